//! Colours and dashes.

/// How a line looks; numbers are places in the palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// One of a few lines that stand apart.
    Solid(usize),
    /// For an estimate that is not a bound.
    Dashed(usize),
    /// One of many lines that cross: every one with its own colour and dashes.
    Series(usize),
    /// A line to compare with.
    Guide,
}

/// Where a drawing is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theme {
    /// In a file of its own, on white.
    File,
    /// In a page, whose variables `--ink`, `--quiet`, `--grid`, `--axis`, `--paper` and `--c0` to `--c7` it takes.
    Page,
}

/// Colours that people with any colour vision tell apart (Okabe, Ito 2008).
const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8c6d46"];
const VARIABLES: [&str; 8] =
    ["var(--c0)", "var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)", "var(--c5)", "var(--c6)", "var(--c7)"];
/// Lengths of dashes and gaps; their number shares no factor with that of the colours, so a pair of both repeats late.
const DASHES: [&str; 5] = ["", "8 4", "2 4", "10 4 2 4", "5 3"];

/// Text that ends at its place.
pub(super) const END: (&str, &str) = ("text-anchor", "end");
/// Text around its place.
pub(super) const MIDDLE: (&str, &str) = ("text-anchor", "middle");

impl Theme {
    fn pick(self, file: &'static str, page: &'static str) -> &'static str {
        if self == Self::File { file } else { page }
    }

    /// Text.
    pub(super) fn ink(self) -> &'static str {
        self.pick("#1f2328", "var(--ink)")
    }

    /// Text that matters less.
    pub(super) fn quiet(self) -> &'static str {
        self.pick("#59636e", "var(--quiet)")
    }

    /// Lines behind everything.
    pub(super) fn grid(self) -> &'static str {
        self.pick("#e4e7eb", "var(--grid)")
    }

    /// The axes, and guides.
    pub(super) fn axis(self) -> &'static str {
        self.pick("#8b949e", "var(--axis)")
    }

    /// What is drawn on.
    pub(super) fn paper(self) -> &'static str {
        self.pick("#ffffff", "var(--paper)")
    }

    /// Attributes of text with a rim, which keeps it readable where it crosses a line.
    pub(super) fn rim(self) -> [(&'static str, &'static str); 3] {
        [("stroke", self.paper()), ("stroke-width", "4"), ("paint-order", "stroke")]
    }

    /// A colour of the palette.
    pub(super) fn series(self, place: usize) -> &'static str {
        self.pick(PALETTE[place % PALETTE.len()], VARIABLES[place % VARIABLES.len()])
    }
}

impl Stroke {
    pub(super) fn colour(self, theme: Theme) -> &'static str {
        match self {
            Self::Solid(place) | Self::Dashed(place) | Self::Series(place) => theme.series(place),
            Self::Guide => theme.axis(),
        }
    }

    pub(super) fn attributes(self, theme: Theme) -> Vec<(&'static str, &'static str)> {
        let (width, dashes) = match self {
            Self::Solid(_) => ("2.25", ""),
            Self::Dashed(_) => ("1.75", "6 5"),
            Self::Series(place) => ("2.25", DASHES[place % DASHES.len()]),
            Self::Guide => ("1.5", "1 5"),
        };
        let mut attributes = vec![("stroke", self.colour(theme)), ("stroke-width", width)];
        if !dashes.is_empty() {
            attributes.push(("stroke-dasharray", dashes));
        }
        attributes
    }
}
