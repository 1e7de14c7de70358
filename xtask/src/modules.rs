//! A reader of Rust source that finds the other files it names.

/// A file that a source file names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// `mod name;`
    Module {
        /// The inline modules around the declaration, outermost first.
        inside: Vec<String>,
        /// The name of the module.
        name: String,
        /// The value of its `#[path]`.
        path: Option<String>,
    },
    /// `include!("file")`
    Include(String),
}

/// The files that `source` names, in order.
pub(crate) fn links(source: &str) -> Vec<Link> {
    use Token::{Mark, Text, Word};
    let tokens = tokens(source);
    let mut found = Vec::new();
    // One entry per open brace; the name where the brace opens an inline module.
    let mut braces: Vec<Option<String>> = Vec::new();
    let mut path: Option<String> = None;
    let mut at = 0;
    while at < tokens.len() {
        at += match &tokens[at..] {
            [Mark('#'), Mark('['), Word(key), Mark('='), Text(value), ..] if key == "path" => {
                path = Some(value.clone());
                5
            }
            [Word(keyword), Word(name), Mark(';'), ..] if keyword == "mod" => {
                let inside = braces.iter().flatten().cloned().collect();
                found.push(Link::Module { inside, name: name.clone(), path: path.take() });
                3
            }
            [Word(keyword), Word(name), Mark('{'), ..] if keyword == "mod" => {
                braces.push(Some(path.take().unwrap_or_else(|| name.clone())));
                3
            }
            [Word(name), Mark('!'), Mark('(' | '[' | '{'), Text(file), ..] if name == "include" => {
                found.push(Link::Include(file.clone()));
                2
            }
            [Mark('{'), ..] => {
                path = None;
                braces.push(None);
                1
            }
            [Mark('}'), ..] => {
                path = None;
                braces.pop();
                1
            }
            [Mark(';'), ..] => {
                path = None;
                1
            }
            _ => 1,
        };
    }
    found
}

/// A token and the line it begins in.
#[derive(Debug)]
pub(crate) struct Placed {
    /// The line, from 1.
    pub(crate) line: usize,
    /// The token.
    pub(crate) token: Token,
}

/// A piece of Rust source.
#[derive(Debug)]
pub(crate) enum Token {
    /// A keyword, a name or a number.
    Word(String),
    /// The contents of a string literal, escapes left as written.
    Text(String),
    /// Any other character.
    Mark(char),
}

/// The tokens of `source`, without comments, character literals and white space.
fn tokens(source: &str) -> Vec<Token> {
    placed(source).into_iter().map(|placed| placed.token).collect()
}

/// The tokens of `source` with their lines, without comments, character literals and white space.
pub(crate) fn placed(source: &str) -> Vec<Placed> {
    let chars: Vec<char> = source.chars().collect();
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let (mut line, mut counted) = (1, 0);
    let mut at = 0;
    while at < chars.len() {
        line += chars[counted..at].iter().filter(|&&c| c == '\n').count();
        counted = at;
        match (chars[at], peek(at + 1)) {
            ('/', '/') => at = find(&chars, at, |c| c == '\n'),
            ('/', '*') => at = after_block_comment(&chars, at),
            ('"', _) => {
                let start = at + 1;
                at = start;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                let end = at.min(chars.len());
                found.push(Placed { line, token: Token::Text(chars[start..end].iter().collect()) });
                at += 1;
            }
            ('\'', '\\') => at = find(&chars, at + 3, |c| c == '\'') + 1,
            ('\'', _) if peek(at + 2) == '\'' => at += 3,
            ('\'', _) => at += 1,
            (c, _) if in_word(c) => {
                let start = at;
                at = find(&chars, at, |c| !in_word(c));
                let word: String = chars[start..at].iter().collect();
                let raw = matches!(word.as_str(), "r" | "br" | "cr");
                let hashes = find(&chars, at, |c| c != '#') - at;
                if raw && peek(at + hashes) == '"' {
                    let (text, after) = raw_string(&chars, at + hashes + 1, hashes);
                    found.push(Placed { line, token: Token::Text(text) });
                    at = after;
                } else if word == "r" && hashes == 1 {
                    at += 1;
                } else {
                    found.push(Placed { line, token: Token::Word(word) });
                }
            }
            (c, _) => {
                if !c.is_whitespace() {
                    found.push(Placed { line, token: Token::Mark(c) });
                }
                at += 1;
            }
        }
    }
    found
}

/// The first position from `from` on whose character fits, or the end.
fn find(chars: &[char], from: usize, fits: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&at| fits(chars[at])).unwrap_or(chars.len())
}

/// The position after the block comment that opens at `at`; block comments nest.
fn after_block_comment(chars: &[char], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}

/// The raw string whose contents begin at `start`, and the position after its closing hashes.
fn raw_string(chars: &[char], start: usize, hashes: usize) -> (String, usize) {
    let closes = |at: usize| {
        chars[at] == '"'
            && chars.get(at + 1..at + 1 + hashes).is_some_and(|tail| tail.iter().all(|&c| c == '#'))
    };
    let end = (start..chars.len()).find(|&at| closes(at)).unwrap_or(chars.len());
    (chars[start..end].iter().collect(), end + 1 + hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(inside: &[&str], name: &str, path: Option<&str>) -> Link {
        Link::Module {
            inside: inside.iter().map(|&name| name.to_owned()).collect(),
            name: name.to_owned(),
            path: path.map(str::to_owned),
        }
    }

    #[test]
    fn declarations_of_every_visibility_are_found() {
        let source = "mod a; pub mod b; pub(crate) mod c; #[cfg(test)] mod r#type;";
        let expected = ["a", "b", "c", "type"].map(|name| module(&[], name, None));
        assert_eq!(links(source), expected);
    }

    #[test]
    fn inline_modules_and_paths_are_kept() {
        let source = r#"
            mod outer { fn f() { if true { } } mod inner { mod deep; } mod shallow; }
            #[path = "other.rs"] #[allow(dead_code)] pub mod renamed;
            #[path = "unused.rs"] const X: u8 = 1;
            mod plain;
            include!("table.rs");
        "#;
        let expected = vec![
            module(&["outer", "inner"], "deep", None),
            module(&["outer"], "shallow", None),
            module(&[], "renamed", Some("other.rs")),
            module(&[], "plain", None),
            Link::Include("table.rs".to_owned()),
        ];
        assert_eq!(links(source), expected);
    }

    #[test]
    fn comments_and_literals_declare_nothing() {
        let source = r####"
            // mod a;
            /* mod b; /* nested */ mod c; */
            const S: &str = "mod d; \" mod e;";
            const R: &str = r#"mod f; " mod g;"#;
            const B: &[u8] = br"mod h;";
            const C: [char; 3] = ['"', '\'', '\u{22}'];
            fn lifetime<'a>(x: &'a str) -> &'a str { x }
            mod real;
        "####;
        assert_eq!(links(source), [module(&[], "real", None)]);
    }

    #[test]
    fn unfinished_source_is_read_to_its_end() {
        for source in ["\"abc", "\"abc\\", "r#\"abc", "/* abc", "'\\", "'", "mod", "}}", "#[path = \"a\"]"] {
            assert_eq!(links(source), []);
        }
    }
}
