//! The help below the flags of `completions` and `man`.

pub(crate) const COMPLETIONS: &str = "\
Prints a script that completes commands and flags. Where to save it depends on the shell:

  reticent completions bash > ~/.local/share/bash-completion/completions/reticent
  reticent completions zsh > \"${fpath[1]}/_reticent\"
  reticent completions fish > ~/.config/fish/completions/reticent.fish";

pub(crate) const MAN: &str = "\
Writes one page for every command: reticent.1, reticent-release-mean.1 and so on. Existing pages are replaced.

  reticent man ~/.local/share/man/man1
  man reticent-release-mean";
