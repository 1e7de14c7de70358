"""Designs: who is in which model."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..errors import AuditError, ModelError, RequestError
from .arrays import Bools, Drawn, draw_of, flags, names_of
from .digests import Unknown, digest_of, hash_of
from .files import check_place, refusal, unwritable, write


@dataclass(frozen=True)
class Design:
    """Who is in the target, and what the reference models' halves are drawn from."""

    #: Stands for the data and the settings.
    key: str
    #: Reference models and their seeds follow from it; members do not.
    seed: bytes
    member: Bools
    #: The unit of each record: its own number, or its user's.
    units: NDArray[np.intp]

    def inside(self, model: int) -> Bools:
        """The members of a model: the target is 0, and references come in pairs of complementary halves."""
        if model == 0:
            return self.member
        pair, side = divmod(model - 1, 2)
        count = int(self.units.max()) + 1
        words = np.frombuffer(self._bytes(f"half {pair}", 8 * count), dtype="<u8")
        half = np.zeros(count, dtype=np.bool_)
        half[np.argsort(words, kind="stable")[: count // 2]] = True
        return (half if side == 0 else ~half)[self.units]

    def seed_of(self, model: int) -> int:
        """The seed of a model's training."""
        return int.from_bytes(self._bytes(f"seed {model}", 4), "little")

    def key_of(self, model: int, inside: Bools) -> str:
        """Stands for everything that a stored model depends on."""
        return hash_of([self.key, self.seed.hex(), str(model), digest_of(inside)])

    def _bytes(self, purpose: str, count: int) -> bytes:
        return hashlib.shake_256(self.seed + purpose.encode()).digest(count)


def declared_draw(member: Any, drawn: Drawn | None, bound: str | None) -> Drawn | None:
    """How members are drawn: by fair coins unless the caller gives them."""
    if drawn == "pairs":
        remedy = "records are not drawn in pairs here: audit the outputs of your models with audit()"
        raise refusal(RequestError, "R103", "drawn", drawn, remedy)
    if member is not None:
        return drawn
    if drawn is not None and draw_of(drawn) != {"coins": 0.5}:
        remedy = "members are drawn by fair coins here: leave it out, or give member"
        raise refusal(RequestError, "R103", "drawn", drawn, remedy)
    return None if bound == "none" else 0.5


def drawn_design(
    records: int,
    member: Any,
    users: Any,
    place: Path | None,
    data: dict[str, str],
    settings: dict[str, str],
) -> Design:
    """Draws the members, or takes those that are given or stored."""
    given = None if member is None else flags(member, "member", (records,), "one truth value for each record")
    units = np.arange(records)
    if users is not None:
        numbers: dict[Any, int] = {}
        # The same number for the same name: arrays of text drop characters at the end of names.
        names = [numbers.setdefault(name, len(numbers)) for name in names_of(users, "users", records)]
        units = np.array(names, dtype=np.intp)
        data = {**data, "users": digest_of(units)}
    if given is not None:
        data = {**data, "member": digest_of(given)}
    if place is not None:
        for name, digest in (data | settings).items():
            if isinstance(digest, Unknown):
                remedy = f"{name} uses {digest}, of which no change would be noticed: leave out this argument"
                raise refusal(RequestError, "R103", "out", None, remedy)
    stored = None if place is None else _open(place) / "design.json"
    found = None if stored is None else _read_design(stored, data, settings)
    if found is None:
        if given is None:
            given = np.array(_native.coins(int(units.max()) + 1), dtype=np.bool_)[units]
        found = bytes(_native.uniform(32, 256).astype(np.uint8)), given
        if stored is not None:
            _write_design(stored, data, settings, *found)
            # Another process may have been first.
            found = _read_design(stored, data, settings) or found
    seed, members = found
    if members.all() or not members.any():
        remedy = "not measurable: there must be members and non-members"
        raise refusal(AuditError, "R601", "member", None, remedy)
    return Design(hash_of([*data.values(), *settings.values()]), seed, members, units)


def _open(out: Path) -> Path:
    """The folder of the models' predictions, which say who was a member."""
    check_place(out, "out")
    folder = out / "models"
    try:
        out.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise unwritable("out", out, error) from error
    for left in folder.glob(".*.tmp"):
        owner = left.name.split(".")[-2].split("-")[0]
        if not (owner.isdigit() and _is_alive(int(owner))):
            left.unlink(missing_ok=True)
    return folder


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _write_design(
    path: Path, data: dict[str, str], settings: dict[str, str], seed: bytes, member: Bools
) -> None:
    fields = {
        "what": "PRIVATE: this file says which records were in the training data. Do not share it.",
        "format": 1,
        "data": data,
        "settings": settings,
        "seed": seed.hex(),
        "records": len(member),
        "member": np.packbits(member).tobytes().hex(),
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    write(temporary, json.dumps(fields).encode())
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links.
        os.replace(temporary, path)
    temporary.unlink(missing_ok=True)


def _read_design(path: Path, data: dict[str, str], settings: dict[str, str]) -> tuple[bytes, Bools] | None:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        fields = json.loads(text)
        stored = {**fields["data"], **fields["settings"]}
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(fields["member"]), dtype=np.uint8))
        found = bytes.fromhex(fields["seed"]), bits[: int(fields["records"])].astype(np.bool_)
    except (KeyError, TypeError, ValueError) as error:
        raise refusal(ModelError, "R502", "out", str(path), "cannot be read: give another folder") from error
    asked = {**data, **settings}
    for name in (*asked, *stored):
        if asked.get(name) != stored.get(name):
            remedy = f"{path.parent} has models for another one: give the same again, or another out"
            raise refusal(ModelError, "R503", name, None, remedy)
    return found
