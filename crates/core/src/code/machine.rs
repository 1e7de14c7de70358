//! Errors about the machine and defects.

use super::Explanation;

pub(super) const INTERNAL: Explanation = Explanation {
    title: "a defect of the program",
    cause: "The program reached a state that should be impossible. What was printed or written before is still \
            valid.",
    remedy: "Please report it with the command that you ran; leave private data out of the report.",
};

pub(super) const ENTROPY: Explanation = Explanation {
    title: "no randomness",
    cause: "The operating system's random source failed. Without it there is no noise, and so no privacy: \
            the command stops.",
    remedy: "Check that the system gives randomness (in a sandbox: the system call getrandom), and run the \
             command again.",
};

pub(super) const THREAD: Explanation = Explanation {
    title: "no thread could be started",
    cause: "The operating system refused a thread: a limit on processes or memory is reached.",
    remedy: "Ask for fewer with --threads, or raise the limit.",
};

pub(super) const DEVICE: Explanation = Explanation {
    title: "the device failed",
    cause: "A GPU was asked for and it, its driver or a library of CUDA was not found; it has no memory left; or the device that \
            computes gave no result. A device that is missing is refused before anything is charged.",
    remedy: "Install what the message names, or use --device cpu. If memory runs out, give a smaller --chunk. A training run that \
             had begun goes on with --resume, on any device.",
};

pub(super) const OUTPUT: Explanation = Explanation {
    title: "standard output cannot be written",
    cause: "Standard output is closed, the reader of a pipe has ended (exit status 141), the disk is full, or writing failed for \
            another reason. The command itself was done: privacy that it spent is spent.",
    remedy: "Free the disk or write elsewhere. Write to a file and look at its start, instead of a pipe to 'head'. Keep what the \
             command wrote to files.",
};
