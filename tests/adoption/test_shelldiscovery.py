"""Texts of shells that make TF_CONFIG or lists of hosts, and what is left of them."""

from __future__ import annotations

import pytest

from tfgitops.adoption.shelldiscovery import simplified

PORTS = {"ps": 2222, "worker": 2222}
PS = 'PS=`cat /etc/volcano/ps.host | sed \'s/$/&:2222/g\' | tr "\\n" ","`'
CLUSTER = '{"cluster":{"ps":[${PS}]},"task":{"type":"ps","index":${VK_TASK_INDEX}}}'
CONFIG = f'export TF_CONFIG="{CLUSTER}"'


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (f"{PS};\n{CONFIG};\npython t.py", "python t.py"),
        (f"{PS}; {CONFIG}; python t.py --index=$VC_TASK_INDEX", "python t.py --index=$(TASK_INDEX)"),
        (f"{PS} && {CONFIG} && cd /x && python t.py", "cd /x && python t.py"),
        (f"{PS}\n{CONFIG}\nexport TF_CONFIG\npython t.py", "python t.py"),
        (f"set -e\n{PS}\n{CONFIG}\nLOG=/logs\npython t.py > $LOG", "set -e\nLOG=/logs\npython t.py > $LOG"),
        (f"{PS}\npython t.py --ps=${{PS}}", "python t.py --ps=$(PS_HOSTS)"),
        ("LR=0.1\nTF_CONFIG='{}'\npython t.py --lr=$LR", "LR=0.1\npython t.py --lr=$LR"),
    ],
)
def test_discovery_is_taken_out_and_the_program_stays(text: str, rest: str) -> None:
    assert simplified(text, PORTS).text == rest


@pytest.mark.parametrize(
    "text",
    [
        "python t.py",
        'PS=`cat /etc/volcano/ps.host | sed \'s/$/&:9999/g\' | tr "\\n" ","`\npython t.py --ps=$PS',
        'HOSTS=`cat /etc/volcano/worker.host | tr "\\n" ","`\nmpiexec --host $HOSTS train',
        'if true; then echo "TF_CONFIG=$X"; fi',
        'python -c \'import os; os.environ["TF_CONFIG"] = "{}"\'',
        "echo 'a quote that is not closed",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert simplified(text, PORTS).text == text


def test_the_role_and_the_port_are_read() -> None:
    found = simplified(f"{PS};\n{CONFIG};\npython t.py", PORTS)
    assert (found.kind, found.port, found.config) == ("ps", 2222, True)
