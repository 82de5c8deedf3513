"""A judge of JSON documents by a schema (draft 2020-12): as much of it as our schemas in docs use, and nothing is passed over: a keyword
that is not known here is an error."""

from __future__ import annotations

import re

ABOUT = {"$schema", "$id", "$defs", "title", "description"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None)}


def is_type(value: object, name: str | list[str]) -> bool:
    if isinstance(name, list):
        return any(is_type(value, n) for n in name)
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def faults(value: object, schema: dict, root: dict | None = None, where: str = "$") -> list[str]:
    """What is wrong with the value, each with its place."""
    root = root or schema
    found: list[str] = []
    for key, want in schema.items():
        if key in ABOUT:
            continue
        if key == "$ref":
            target = root
            for part in want.removeprefix("#/").split("/"):
                target = target[part]
            found += faults(value, target, root, where)
        elif key == "type":
            found += [] if is_type(value, want) else [f"{where}: {value!r} is no {want}"]
        elif key == "const":
            found += [] if value == want else [f"{where}: {value!r} is not {want!r}"]
        elif key == "enum":
            found += [] if value in want else [f"{where}: {value!r} is none of {want}"]
        elif key == "pattern":
            found += [f"{where}: {value!r} is not like {want}"] if isinstance(value, str) and not re.search(want, value) else []
        elif key == "minimum":
            found += [f"{where}: {value} is less than {want}"] if is_type(value, "number") and value < want else []
        elif key == "minItems":
            found += [f"{where} has less than {want}"] if isinstance(value, list) and len(value) < want else []
        elif key == "required":
            found += [f"{where} has no {k}" for k in want if isinstance(value, dict) and k not in value]
        elif key == "properties":
            for k, v in value.items() if isinstance(value, dict) else ():
                found += faults(v, want[k], root, f"{where}.{k}") if k in want else []
        elif key == "additionalProperties" and want is False:
            found += [f"{where}: {k} is unknown" for k in value if k not in schema["properties"]] if isinstance(value, dict) else []
        elif key == "items":
            for i, v in enumerate(value if isinstance(value, list) else ()):
                found += faults(v, want, root, f"{where}[{i}]")
        else:
            raise ValueError(f"the keyword {key} is not known here")
    return found


def objects(schema: dict) -> list[dict]:
    """All schemas of objects in it."""
    found = [schema] if schema.get("type") == "object" else []
    for key in ("properties", "$defs"):
        for v in schema.get(key, {}).values():
            found += objects(v)
    return found + (objects(schema["items"]) if "items" in schema else [])


def members(schema: dict) -> set[str]:
    """The names of all members of all its objects."""
    return {k for o in objects(schema) for k in o["properties"]}
