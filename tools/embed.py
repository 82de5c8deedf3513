"""Makes a C file of the scenarios, so that the program carries them: scenarios/NAME.yaml becomes a row of scenario_rows[].

    python3 tools/embed.py OUTPUT FILE...
"""

from __future__ import annotations

import sys
from pathlib import Path


def literal(text: str) -> str:
    """Line by line: string literals have limits that compilers warn of, arrays of bytes have none."""
    data = text.encode() + b"\0"
    rows = [", ".join(str(b) for b in data[i:i + 24]) for i in range(0, len(data), 24)]
    return "{\n    " + ",\n    ".join(rows) + "}"


def main() -> int:
    output, files = Path(sys.argv[1]), sorted(Path(a) for a in sys.argv[2:])
    parts = ["/* Made by tools/embed.py from scenarios/. */", '#include "sim/scenario.h"', ""]
    for i, file in enumerate(files):
        parts.append(f"static const char text_{i}[] = {literal(file.read_text(encoding='utf-8'))};")
    parts.append("const struct scenario_row scenario_rows[] = {")
    parts += [f'    {{"{file.stem}", text_{i}}},' for i, file in enumerate(files)]
    parts += ["};", f"const size_t scenario_n_rows = {len(files)};"]
    parts.append("const char *const scenario_names[] = {")
    parts += [f'    "{file.stem}",' for file in files]
    parts += ["    0};", ""]
    output.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
