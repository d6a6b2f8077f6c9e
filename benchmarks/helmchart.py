"""The Jinja2 script's template as a chart for Helm, which renders all jobs into one stream."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from workload import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEMPLATE = Path(__file__).parent / "jinja" / "job.yaml.j2"
_DEFINITIONS = """\
{{- define "hosts" }}{{ range $i := until (int .count) }}{{ if $i }},{{ end }}\
"{{ $.name }}-{{ $.role }}-{{ $i }}.{{ $.name }}:2222"{{ end }}{{ end }}
{{- define "cluster" -}}
{"chief":["{{ .name }}-chief-0.{{ .name }}:2222"],\
"ps":[{{ template "hosts" dict "name" .name "role" "ps" "count" .ps }}],\
"worker":[{{ template "hosts" dict "name" .name "role" "worker" "count" .workers }}]}
{{- end -}}
{{- range .Values.jobs }}
---
"""
_WORDS = (
    ("{{ job.command | trim | indent(12) }}", "{{ indent 12 .command | trim }}"),
    ("{{ 1 + job.ps + job.workers }}", "{{ add 1 .ps .workers }}"),
    ("{{ cluster(job) }}", '{{ template "cluster" . }}'),
    ("{{ namespace }}", "{{ $.Values.namespace }}"),
    ("{{ job.", "{{ ."),
)


def find_helm() -> str:
    """Return the path of Helm, or nothing: it may be where `go install` puts it."""
    return shutil.which("helm") or shutil.which("helm", path=str(Path.home() / "go" / "bin")) or ""


def chart_command(helm: str, folder: Path, values: Path) -> Sequence[str]:
    """Write the chart into a folder, and return the command that renders it with some values."""
    _, _, body = _TEMPLATE.read_text(encoding="utf-8").rpartition("{%- endmacro -%}\n")
    for old, new in _WORDS:
        body = body.replace(old, new)
    assert not re.search(r"{%|{{ [a-z(]+\.", body), "the template has something new"
    write_text(folder / "Chart.yaml", ["apiVersion: v2\nname: bench\nversion: 0.1.0\n"])
    write_text(folder / "templates" / "jobs.yaml", [_DEFINITIONS, body, "{{- end }}\n"])
    return [helm, "template", "bench", str(folder), "--values", str(values)]
