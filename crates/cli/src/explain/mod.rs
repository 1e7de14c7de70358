//! `reticent explain`: what the code of an error means and how to mend it.

mod code;

pub(crate) use code::Code;
