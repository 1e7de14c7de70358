"""Requests for a training: what is given becomes fields, files in a private folder, and data."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._arguments import bounds_of, items, pair, path, refused, text
from .._classes import check_given, with_positive
from .._core import read_text
from .._schemas import category_text, known_schema, schema_source, schema_text
from .._tables import PREFIX, is_path
from .data import LABEL, TEXT, Given, Reader, column_names, is_frame, is_texts, matrix, validation_of
from .images import pixels_of
from .labels import array_of, class_texts
from .network import Network
from .settings import fields_of

#: Positions of a vocabulary that are not tokens: padding and unknown tokens.
_RESERVED = 2
#: The built-in characters: printable ASCII and the line break.
_CHARACTERS = 96
#: The built-in words.
_WORDS = 10_000


def is_folder(place: Any) -> bool:
    """Whether a path is a folder, or the name of a dataset."""
    return os.path.isdir(place) or not (os.path.exists(place) or os.path.splitext(place)[1])


def _names(X: Any) -> list[str]:
    return column_names(X) if is_frame(X) else []


def _free(name: str, taken: Collection[str]) -> str:
    """A name that no column has."""
    while name in taken:
        name += "_"
    return name


def _declared_label(label: Mapping[str, Any], settings: Mapping[str, Any], y: Any) -> dict[str, Any] | None:
    """What the arguments declare of the label, for the schema; ``None`` where the schema says it itself."""
    classes, bounds = settings.get("classes"), settings.get("target_bounds")
    if classes is not None and (bounds is not None or "bounds" in label):
        raise refused(103, "classes", "a number as the label has no classes", "leave it out")
    if bounds is not None and ("categories" in label or "positive" in label):
        raise refused(103, "target_bounds", "the schema's label has classes", "leave it out")
    if bounds is not None:
        low, high = pair("target_bounds", bounds)
        if "bounds" in label and [low, high] != label["bounds"]:
            problem = f"({low}, {high}): the schema's label has other bounds"
            raise refused(103, "target_bounds", problem, "leave it out", f"({low}, {high})")
        return None if "bounds" in label else {"bounds": (low, high)}
    if "positive" in label:
        if y is None:
            if classes is not None:
                raise refused(103, "classes", "the schema declares the label in the table", "leave it out")
            return None
        check_given(classes, label)
        return {"categories": with_positive(class_texts(classes, y), label["positive"])}
    if not label:
        return {"categories": class_texts(classes, y)}
    listed = label.get("categories")
    if classes is not None and isinstance(listed, list):
        if {category_text(value, "schema") for value in listed} != set(class_texts(classes, y)):
            problem = "they are not those of the schema's label"
            raise refused(103, "classes", problem, "leave it out, or give the same classes")
    return None


class Request:
    """A request for a training: its fields, its files in a private folder, and its data."""

    def __init__(self, network: Network, X: Any, y: Any, settings: Mapping[str, Any], folder: str) -> None:
        self.folder = folder
        self.fields = fields_of(settings)
        self.settings = settings
        #: What the data say of the network: the shape of an example, the loss, the size of the vocabulary.
        self.shape: tuple[int, ...] | None = None
        self.loss: str | None = None
        self.tokens: int | None = None
        self.is_language_model = network._is_language_model
        self.data: Given | None = None
        self.validation: Given | None = None
        if X is None:
            raise refused(102, "X", "the data are needed", "give a table, an array, images or texts")
        if is_path(X) and is_folder(X):
            self._take_folder(X, y)
        else:
            reader = self._reader(X, y)
            self.data = reader.labelled(X, y)
            if settings.get("validation") is not None:
                self.validation = validation_of(reader, settings["validation"], X, self.data)
        self._describe(network)

    def _write(self, name: str, content: str, argument: str) -> str:
        place = os.path.join(self.folder, name)
        try:
            Path(place).write_text(content, encoding="utf-8")
        except UnicodeEncodeError:
            problem = "the text is not Unicode"
            raise refused(104, argument, problem, "give text without surrogates") from None
        return place

    def _refuse(self, *names: str, why: str) -> None:
        for name in names:
            if self.settings.get(name) is not None:
                raise refused(103, name, why, "leave it out")

    def _describe(self, network: Network) -> None:
        if network.name is not None:
            self.fields["model"] = network.name
            return
        shape = network.input or self.shape
        if shape is None:
            problem = "the shape of one example is not known here"
            raise refused(102, "input", problem, "give it, as in Network([…], input=(1, 28, 28))")
        described = network._described(shape, network.loss or self.loss, self.tokens)
        self.fields["model"] = self._write("model.toml", described, "network")

    def _take_folder(self, X: Any, y: Any) -> None:
        """Images in a folder, which has labels and a test set."""
        if y is not None:
            raise refused(103, "y", "a folder of images holds its labels", "leave it out")
        self._refuse("bounds", "target_bounds", "channels", why="not for a folder of images")
        own = self.settings
        self.fields["data"] = path("X", X)
        self.fields |= {name: text(name, own.get(name)) for name in ("text_column", "label")}
        for name in ("schema", "vocabulary", "validation"):
            if own.get(name) is not None:
                self.fields[name] = path(name, own[name], "give a path, as the training data are one")
        if own.get("classes") is not None:
            self.fields["classes"] = self._image_classes(own["classes"])

    def _reader(self, X: Any, y: Any) -> Reader:
        """How the data are read; the fields about them are set."""
        is_table = is_path(X) or is_frame(X)
        about_texts = ("vocabulary", "text_column", "tokens", "vectors")
        named = any(self.settings.get(name) is not None for name in about_texts)
        if named or self.is_language_model or (not is_table and is_texts(X)):
            return self._take_texts(X, is_table, y)
        if is_table:
            return self._take_table(X, y)
        if isinstance(X, (list, tuple)) and not X:
            raise refused(308, "X", "no rows", "give rows")
        if array_of(X, "X").ndim > 2:
            return self._take_images(X)
        return self._take_array(X, y)

    def _take_texts(self, X: Any, is_table: bool, y: Any) -> Reader:
        self._refuse("bounds", "shift", "scale", "channels", why="not for texts")
        own = self.settings
        self.shape = (self.fields.get("length") or 64,)
        self._take_vocabulary(own.get("vocabulary"))
        column = text("text_column", own.get("text_column")) or (None if is_table else TEXT)
        self.fields["text_column"] = column
        label = text("label", own.get("label"))
        reader = Reader("text", text=column, columns=None if column is None else frozenset([column]))
        if self.is_language_model:
            return self._take_language(reader, y)
        if own.get("schema") is not None:
            return self._take_schema(own["schema"], label, reader, X, y)
        label = label or (None if is_table and y is None else LABEL)
        if own.get("target_bounds") is not None:
            return self._take_numbers([], replace(reader, label=label or LABEL), y)
        classes = class_texts(own.get("classes"), y)
        self.fields |= {"label": label, "classes": classes}
        return replace(reader, label=label, classes=tuple(classes))

    def _take_language(self, reader: Reader, y: Any) -> Reader:
        """Texts without labels, with or without a schema that names the privacy unit."""
        why = "a language model predicts the next token"
        self._refuse("classes", "target_bounds", "label", "federated", why=why)
        if y is not None:
            raise refused(103, "y", why, "leave it out")
        reader = replace(reader, is_language=True)
        if self.settings.get("schema") is None:
            return reader
        content, place = schema_source(self.settings["schema"])
        self.fields["schema"] = place or self._write("schema.toml", content, "schema")
        known = known_schema(content)
        columns = None if known is None or reader.columns is None else known.columns | reader.columns
        return replace(reader, columns=columns)

    def _take_vocabulary(self, vocabulary: Any) -> None:
        if vocabulary is None:
            if self.fields.get("tokens") == "characters":
                self.tokens = _CHARACTERS + _RESERVED
            elif self.fields.get("vectors") is None:
                self.tokens = _WORDS + _RESERVED
            return
        if is_path(vocabulary):
            content = read_text(vocabulary, "vocabulary")
            self.fields["vocabulary"] = path("vocabulary", vocabulary)
        else:
            tokens = items(vocabulary) or [vocabulary]
            if not all(isinstance(own, str) and not re.search(r"[\r\n]", own) for own in tokens):
                remedy = "give a list of texts without line breaks, or a file with one token per line"
                raise refused(104, "vocabulary", "not a list of tokens", remedy, vocabulary)
            content = "".join(f"{token}\n" for token in tokens)
            self.fields["vocabulary"] = self._write("vocabulary.txt", content, "vocabulary")
        self.tokens = content.count("\n") + (not content.endswith("\n")) + _RESERVED

    def _take_schema(self, schema: Any, label: str | None, reader: Reader, X: Any, y: Any) -> Reader:
        """Takes a schema, whose label and columns the reader reads as well as its own."""
        content, place = schema_source(schema)
        known = known_schema(content)
        if known is None:
            declared = [self.settings.get(name) for name in ("classes", "target_bounds")]
            if y is not None or declared != [None, None]:
                raise ImportError("labels beside a schema need tomli before Python 3.11: pip install tomli")
            self.fields["schema"] = place or self._write("schema.toml", content, "schema")
            return replace(reader, label=label, columns=None)
        self.shape = self.shape or (len(known.feature_names) or 1,)
        columns = known.columns | (reader.columns or frozenset())
        own = known.label or {}
        name = own.get("column")
        if isinstance(name, str) and label not in (None, name):
            raise refused(103, "label", f"the schema's label is {name!r}", "leave it out", label)
        if known.label is None and label in columns:
            raise refused(103, "label", f"{label!r} is a feature of the schema", "give another name", label)
        if known.label is None and y is None and label is None and LABEL in columns:
            raise refused(102, "label", "the schema has no label", "name the label's column")
        if known.label is None:
            name = label or (LABEL if y is None else _free(LABEL, columns | {*_names(X)}))
        added = _declared_label(own, self.settings, y)
        if added is not None:
            content, place = known.with_label({"column": name, **added}), None
            own = added
        self.fields["schema"] = place or self._write("schema.toml", content, "schema")
        is_number, listed = "bounds" in own, own.get("categories")
        self.loss = "squared" if is_number else None
        classes = None
        if isinstance(listed, list):
            classes = tuple(category_text(value, "schema") for value in listed)
        label = name if isinstance(name, str) else label
        reader = replace(reader, label=label, is_number=is_number, columns=columns)
        return replace(reader, classes=classes, checks_table=known.label is None)

    def _take_table(self, X: Any, y: Any) -> Reader:
        self._refuse("shift", "scale", "channels", "length", why="not for tables")
        own, reader = self.settings, Reader("table", label=text("label", self.settings.get("label")))
        if own.get("schema") is not None:
            self._refuse("bounds", why="the schema declares them")
            return self._take_schema(own["schema"], reader.label, reader, X, y)
        if own.get("bounds") is None:
            remedy = "give its public schema, or bounds= if all its features are numbers"
            raise refused(102, "schema", "a table needs a schema", remedy)
        reader = replace(reader, label=reader.label or LABEL)
        return self._take_numbers([name for name in column_names(X) if name != reader.label], reader, y)

    def _take_array(self, X: Any, y: Any) -> Reader:
        self._refuse("shift", "scale", "channels", "length", why="not for an array of features")
        width = matrix(X, "X").shape[1]
        if self.settings.get("schema") is not None:
            self._refuse("bounds", why="the schema declares them")
            label = text("label", self.settings.get("label"))
            reader = self._take_schema(self.settings["schema"], label, Reader("table", width=width), X, y)
            if reader.columns != frozenset(f"{PREFIX}{at}" for at in range(width)):
                problem = f"it does not declare the {width} columns of the array, {PREFIX}0, {PREFIX}1, …"
                raise refused(103, "schema", problem, "declare all of them, or give a data frame")
            return reader
        self._refuse("label", "examples_per_user", why="an array has no named columns")
        if self.settings.get("bounds") is None:
            remedy = "give (low, high), or a pair for each column, that are known without looking at the data"
            raise refused(102, "bounds", "the features need public bounds", remedy)
        reader = Reader("table", label=LABEL, width=width)
        return self._take_numbers([f"{PREFIX}{at}" for at in range(width)], reader, y)

    def _take_numbers(self, names: Sequence[str], reader: Reader, y: Any) -> Reader:
        """Features that are numbers, or texts whose label is one: a schema is written from the bounds."""
        own = self.settings
        bounds = dict(zip(names, bounds_of(own["bounds"], names) if names else [], strict=True))
        if own.get("target_bounds") is not None:
            self._refuse("classes", why="a number as the label has no classes")
            label: dict[str, Any] = {"bounds": pair("target_bounds", own["target_bounds"])}
            self.loss = "squared"
            reader = replace(reader, is_number=True)
        else:
            classes = class_texts(own.get("classes"), y)
            label = {"categories": classes}
            reader = replace(reader, classes=tuple(classes))
        content = schema_text(bounds, {"column": reader.label, **label})
        self.fields["schema"] = self._write("schema.toml", content, "schema")
        self.shape = self.shape or (2 * len(names),)
        numeric = frozenset(names)
        return replace(reader, columns=(reader.columns or frozenset()) | numeric, numeric=numeric)

    def _take_images(self, X: Any) -> Reader:
        self._refuse("bounds", "target_bounds", "schema", "label", "length", why="not for images")
        self._refuse("examples_per_user", why="not for images")
        given, channels = self.settings.get("classes"), self.settings.get("channels")
        classes = self._image_classes(10 if given is None else given)
        self.fields["classes"] = classes
        self.shape = tuple(pixels_of(X, "X", channels).shape[1:])
        return Reader("images", classes=tuple(classes), shape=self.shape, channels=channels)

    def _image_classes(self, classes: Any) -> list[str]:
        if isinstance(classes, str):
            remedy = "give their number, or their names in the order of the labels"
            raise refused(104, "classes", "not classes of images", remedy, classes)
        texts = class_texts(classes)
        if len(texts) > 256:
            raise refused(201, "classes", f"{len(texts)} classes", "give at most 256", len(texts))
        return texts
