//! The header of a `.npy` file: a Python dictionary such as
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The type of the values, such as `<f4`; none for a record type.
    pub(super) descr: Option<String>,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<u64>,
}

/// Reads a header; `None` if it is not one.
pub(super) fn parse(text: &str) -> Option<Header> {
    let mut rest = Rest(text.trim());
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    rest.skip("{")?;
    while rest.skip("}").is_none() {
        let key = rest.string()?;
        rest.skip(":")?;
        match key {
            "descr" if descr.is_none() => descr = Some(rest.descr()?),
            "fortran_order" if fortran_order.is_none() => fortran_order = Some(rest.truth()?),
            "shape" if shape.is_none() => shape = Some(rest.tuple()?),
            _ => return None,
        }
        if rest.skip(",").is_none() {
            rest.skip("}")?;
            break;
        }
    }
    let complete = rest.0.is_empty();
    complete.then_some(Header { descr: descr?, fortran_order: fortran_order?, shape: shape? })
}

/// What is still to be read; never starts with a blank.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn skip(&mut self, mark: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(mark)?.trim_start();
        Some(())
    }

    fn string(&mut self) -> Option<&'t str> {
        let quote = self.0.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        let (inside, rest) = self.0.get(1..)?.split_once(quote)?;
        self.0 = rest.trim_start();
        (!inside.contains('\\')).then_some(inside)
    }

    /// A type: text, or a list of fields, of which only the end is found.
    fn descr(&mut self) -> Option<Option<String>> {
        if !self.0.starts_with('[') {
            return self.string().map(|text| Some(text.to_owned()));
        }
        let mut depth = 0usize;
        loop {
            match self.0.chars().next()? {
                '\'' | '"' => {
                    self.string()?;
                    continue;
                }
                '[' | '(' => depth += 1,
                ']' | ')' => depth -= 1,
                _ => {}
            }
            let next = self.0.chars().next()?.len_utf8();
            self.0 = self.0.get(next..)?.trim_start();
            if depth == 0 {
                return Some(None);
            }
        }
    }

    fn truth(&mut self) -> Option<bool> {
        if self.skip("True").is_some() { Some(true) } else { self.skip("False").map(|()| false) }
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        let mut lengths = Vec::new();
        self.skip("(")?;
        while self.skip(")").is_none() {
            let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
            let (length, rest) = self.0.split_at_checked(digits)?;
            lengths.push(length.parse().ok()?);
            self.0 = rest.trim_start();
            if self.skip(",").is_none() {
                self.skip(")")?;
                break;
            }
        }
        Some(lengths)
    }
}
