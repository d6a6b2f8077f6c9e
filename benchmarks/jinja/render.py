"""What most teams write before they have a compiler: one Jinja2 template, filled from a list of jobs.

Call it as `render.py LIST FOLDER`. It checks nothing and computes no digests, so it is a floor to be measured against,
not an equal. PyYAML reads with its C loader.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render(jobs: Path, folder: Path) -> None:
    """Write one manifest for each job of a list into a folder."""
    with jobs.open(encoding="utf-8") as file:
        spec = yaml.load(file, yaml.CSafeLoader)
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - this is YAML
    )
    template = environment.get_template("job.yaml.j2")
    folder.mkdir(parents=True, exist_ok=True)
    for job in spec["jobs"]:
        with Path(folder, f"{job['name']}.yaml").open("w", encoding="utf-8") as file:
            file.write(template.render(job=job, namespace=spec["namespace"]))


if __name__ == "__main__":
    render(Path(sys.argv[1]), Path(sys.argv[2]))
