"""kubectl's global flags and what -v prints, word by word beside the real kubectl."""

from __future__ import annotations

import re

from context import Context

HEAD = re.compile(r"^I\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{7} (\S+)\] ")
OURS = {"-v": "0", "--v": "0", "--log-flush-frequency": "5s", "--request-timeout": "0"}


def entries(text: str) -> list[tuple[str, str]]:
    """klog's entries: (file:line, the rest), an entry may have several lines."""
    found: list[list[str]] = []
    for line in text.splitlines():
        head = HEAD.match(line)
        if head:
            found.append([head[1], line[head.end():]])
        elif found and line[:1] in ("\t", " "):
            found[-1][1] += "\n" + line
    return [(place, rest) for place, rest in found]


def plain(text: str) -> str:
    """Without what differs from call to call and from program to program."""
    text = re.sub(r"(\w*[mM]illiseconds)=\d+", r"\1=N", text)
    text = re.sub(r"((?:User-Agent|Accept|Audit-Id|Date): )[^\n\"]*", r"\1X", text)
    command = re.fullmatch(r"(.*curl -v -X\w+ )(.*)( 'https.*)", text, re.S)
    if command:  # Go's maps have no order
        text = command[1] + " ".join(sorted(re.findall(r'-H "[^"]*"', command[2]))) + command[3]
    return text


def test_requests_in_kubectls_words(ctx: Context) -> None:
    token = ctx.cluster.api.call("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    for config in (ctx.cluster.admin, ctx.cluster.kubeconfig(token=token)):
        for level in (6, 7, 8, 9, 10):
            theirs = ctx.run(ctx.cluster.binaries.path("kubectl"), "get", "--raw", "/version", f"-v={level}", kubeconfig=config,
                             check=True).stderr
            ours = ctx.run(ctx.slipway, "version", "--remote", f"-v={level}", kubeconfig=config, check=True)
            wanted = [(place, plain(rest)) for place, rest in entries(theirs) if place.startswith("round_trippers.go:")]
            got = [(place, plain(rest)) for place, rest in entries(ours.stderr)]
            assert [e for e in got if e[0].startswith("round_trippers.go:")] == wanted, (level, got, wanted)
            # Bodies are told by the place in the caller, which is not the same.
            bodies = [rest for place, rest in got if not place.startswith("round_trippers.go:")]
            assert len(bodies) == (2 if level >= 8 else 0), (level, got)
            assert not bodies or bodies[0] == '"Request Body" body=""', bodies
            assert token not in ours.stderr, level


def test_every_flag_that_kubectl_has(ctx: Context) -> None:
    flags = re.findall(r"^ +(?:(-\w), )?(--[\w-]+)=(.*):$", ctx.cluster.kubectl("options"), re.M)
    assert len(flags) > 25, flags
    for letter, name, default in flags:
        value = OURS.get(name, default.strip("'").replace("[]", ""))
        for flag in (letter, name):
            if flag:
                done = ctx.run(ctx.slipway, "version", "--remote", f"{flag}={value}", kubeconfig=ctx.cluster.admin)
                assert done.returncode == 0 and not done.stderr, (flag, value, done.stderr)
