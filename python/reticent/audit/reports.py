"""Reports: an audit as one page for a data-protection assessment."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from .. import _native, _tables
from .._core import Certificate, Result, brief, load, request
from ..errors import InvalidValueError, RequestError
from .arrays import out_folder
from .files import PathLike, check_place, private_folder, refusal, unwritable, without, write


class Report(Result):
    """The page of an audit: ``save("report.html")``. Its fields are those of the command's ``report.json``.

    It neither names a record nor says whether one was a member.
    """

    _title: ClassVar[str] = "Privacy report"
    _html: str

    def __init__(self, data: Mapping[str, Any], text: str) -> None:
        super().__init__(data)
        object.__setattr__(self, "_html", text)

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self._data, "html": self._html}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", state["data"])
        object.__setattr__(self, "_html", state["html"])

    @property
    def html(self) -> str:
        """The page."""
        return self._html

    def save(self, path: PathLike) -> list[Path]:
        """Writes the page (``.html``) or its JSON (``.json``), or both into a folder; returns the files."""
        place = report_place(path)
        suffix = "" if place.is_dir() else place.suffix.lower()
        targets = {
            ".html": [(place, self._html)],
            ".json": [(place, self._json())],
        }.get(suffix, [(place / "report.html", self._html), (place / "report.json", self._json())])
        folder = targets[0][0].parent
        check_place(folder, "path")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for target, text in targets:
                write(target, text.encode("utf-8"), mode=0o666)
        except OSError as error:
            raise unwritable("path", place, error) from error
        return [target for target, _ in targets]

    def _json(self) -> str:
        return json.dumps(self._data, indent=2, ensure_ascii=False) + "\n"

    def _rows(self) -> list[tuple[str, str]]:
        return [("page", f"{len(self._html)} characters of HTML"), ("fields", ", ".join(self._data))]

    def _repr_html_(self) -> str:
        page = html.escape(self._html, quote=True)
        style = "width:100%;height:40em;border:1px solid #ccc"
        return f'<iframe srcdoc="{page}" sandbox style="{style}"></iframe>'


def report_place(path: PathLike) -> Path:
    """Where a report goes: a page, its JSON, or a folder, which has no suffix unless it is there already."""
    place = out_folder(path, "path")
    if place is None:
        raise refusal(RequestError, "R104", "path", "None", "give a path, such as 'report.html'")
    if place.suffix.lower() not in ("", ".html", ".json") and not place.is_dir():
        remedy = f"a report is a page or its JSON: give '{place.with_suffix('.html').name}', or a folder"
        raise refusal(RequestError, "R104", "path", str(place), remedy)
    return place


def report_of(
    findings: Mapping[str, Any],
    out: Path | None,
    declared: Mapping[str, Any] | PathLike | None,
    certificate: Certificate | PathLike | None,
    pictures: bool = False,
    compare: Sequence[Path] = (),
) -> Report:
    """The report of an audit; ``out`` is the folder that holds it, if one does."""
    with private_folder() as folder:
        source = out
        if source is None:
            source = folder / "audit"
            source.mkdir()
            write(source / "audit.json", json.dumps({**findings, "model": None}).encode())
        fields = {
            "folder": source,
            "out": folder / "report",
            "declared": _declared(declared, folder),
            "certificate": _certificate_file(certificate, folder),
            "pictures": pictures,
            "compare": list(compare),
        }
        with without(folder):
            written = load(_native.report(request(fields)))
        text = Path(written["html"]).read_text(encoding="utf-8")
        return Report(json.loads(Path(written["json"]).read_text(encoding="utf-8")), text)


def _declared(declared: Mapping[str, Any] | PathLike | None, folder: Path) -> Path | None:
    """Declared facts as a TOML file."""
    if declared is None:
        return None
    if _tables.is_path(declared):
        return Path(declared)
    if not isinstance(declared, Mapping):
        remedy = "give a mapping such as {'title': 'Audit of the churn model'}, or the path of a TOML file"
        raise refusal(RequestError, "R104", "declared", declared, remedy)
    lines = [f"{_toml(str(key), '')} = {_toml(value, str(key))}\n" for key, value in declared.items()]
    write(folder / "declared.toml", "".join(lines).encode("utf-8"))
    return folder / "declared.toml"


def _toml(value: Any, key: str) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        return repr(float(value))
    if isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
        return f"[{', '.join(_toml(item, key) for item in value)}]"
    remedy = "give text, a number or a list of texts"
    raise refusal(InvalidValueError, "R201", "declared", f"{key} = {brief(value)}", remedy)


def _certificate_file(given: Certificate | PathLike | None, folder: Path) -> Path | None:
    if given is None:
        return None
    if _tables.is_path(given):
        return Path(given)
    if not isinstance(given, Certificate):
        remedy = "give a reticent.Certificate, or the path of one"
        raise refusal(RequestError, "R104", "certificate", given, remedy)
    write(folder / "certificate.json", json.dumps(given.to_dict()).encode("utf-8"))
    return folder / "certificate.json"
