"""Hooks of the book: links that leave docs/ lead to copies of those files in the site.

In the repository such a link opens the file itself; in the book it opens the copy below `source/`. A link to a folder shows its
name only.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(\s*```+\w+)[^`\n]*$", flags=re.M)
ROOT = Path(__file__).resolve().parent.parent


def outside(page: str, link: str) -> str | None:
    """The path from the repository root that a link of a page leads to, if it leaves docs/."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if path == "docs" or path.startswith("docs/") else path


def copied(path: str) -> str:
    """Where the copy is; as plain text, unless browsers show the file anyway."""
    shown = path.endswith((".json", ".svg", ".png"))
    return f"source/{path}" if shown else f"source/{path}.txt"


def on_files(files, config):
    """Adds every file outside docs/ that a page links to."""
    wanted = set()
    for page in files.documentation_pages():
        for _, link, _ in LINK.findall(Path(page.abs_src_path).read_text(encoding="utf-8")):
            path = outside(page.src_uri, link)
            if path and (ROOT / path).is_file():
                wanted.add(path)
    for path in sorted(wanted):
        files.append(File.generated(config, copied(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Leads links that leave docs/ to the copies, and leaves of a fence what highlighting knows: its language."""
    up = posixpath.relpath(".", posixpath.dirname(page.file.src_uri) or ".")

    def led(match):
        text, link, anchor = match.groups()
        path = outside(page.file.src_uri, link)
        if path is None:
            return match.group(0)
        if (ROOT / path).is_file():
            return f"[{text}]({posixpath.join(up, copied(path))})"
        if (ROOT / path).is_dir():
            return text
        return match.group(0)

    return FENCE.sub(r"\1", LINK.sub(led, markdown))
