//! A privacy report as one page.
