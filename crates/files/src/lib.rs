//! Files: atomic writes, locks, and errors that name the file.
//!
//! [`write_atomic`] writes a whole file and [`AtomicFile`] one that is written piece by piece. Both write under a temporary name
//! and rename, so a reader never sees half a file. [`write_private`] is for files that only their owner may read.
//! [`append_line`] extends a log, and [`Lock`] keeps a second process out.
//!
//! Every [`FileError`] prints as one line that names the file and says what to do.

mod atomic;
mod error;
mod lock;
mod text;

pub use atomic::{
    AtomicFile, Readers, append_line, check_regular, make_private, sweep, sync_folder, temporary_of,
    write_atomic, write_private,
};
pub use error::FileError;
pub use lock::Lock;
pub use text::{SHOWN, shown, shown_path};

#[cfg(test)]
mod fixture;
