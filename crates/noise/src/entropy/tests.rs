#![allow(unsafe_code)] // fork() has no safe form.

use super::*;

/// Runs `child` in a forked process and returns the word it reports.
fn word_of_forked_child(entropy: &mut Entropy) -> u64 {
    let mut pipe = [0i32; 2];
    // SAFETY: plain system calls on a valid array; the child only draws, writes and leaves at once.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        let pid = libc::fork();
        assert!(pid >= 0);
        if pid == 0 {
            let bytes = entropy.word().to_le_bytes();
            libc::write(pipe[1], bytes.as_ptr().cast(), 8);
            libc::_exit(0);
        }
        let mut bytes = [0u8; 8];
        assert_eq!(libc::read(pipe[0], bytes.as_mut_ptr().cast(), 8), 8);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
        libc::close(pipe[0]);
        libc::close(pipe[1]);
        u64::from_le_bytes(bytes)
    }
}

#[test]
fn forked_children_never_share_words() {
    let mut entropy = Entropy::new().unwrap();
    entropy.word();
    let children = [word_of_forked_child(&mut entropy), word_of_forked_child(&mut entropy)];
    // The parent goes on with the words that were buffered when the children were made.
    let parent: Vec<u64> = (0..1024).map(|_| entropy.word()).collect();
    assert_ne!(children[0], children[1]);
    assert!(children.iter().all(|word| !parent.contains(word)));
}

#[test]
fn a_plain_generator_does_share_words_across_a_fork() {
    // The broken twin: without the fork check the child repeats its parent.
    let mut entropy = Entropy::new().unwrap();
    let mut twin = SeededForTests::new(entropy.word());
    let mut pipe = [0i32; 2];
    // SAFETY: as above.
    let child = unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        let pid = libc::fork();
        if pid == 0 {
            let bytes = twin.word().to_le_bytes();
            libc::write(pipe[1], bytes.as_ptr().cast(), 8);
            libc::_exit(0);
        }
        let mut bytes = [0u8; 8];
        assert_eq!(libc::read(pipe[0], bytes.as_mut_ptr().cast(), 8), 8);
        libc::waitpid(pid, std::ptr::null_mut(), 0);
        u64::from_le_bytes(bytes)
    };
    assert_eq!(child, twin.word());
}

#[test]
fn words_are_erased_once_drawn() {
    let mut entropy = Entropy::new().unwrap();
    entropy.word();
    entropy.word();
    assert_eq!(entropy.buffer[..2], [[0; 8]; 2]);
    assert!(entropy.buffer[2..].iter().any(|word| *word != [0; 8]));
}

#[test]
fn generators_and_threads_are_independent() {
    let here = Entropy::new().unwrap().word();
    let there = std::thread::spawn(|| Entropy::new().unwrap().word()).join().unwrap();
    assert_ne!(here, there);
    assert_ne!(here, Entropy::new().unwrap().word());
}

#[test]
fn reseeds_after_its_allowance() {
    let mut entropy = Entropy::new().unwrap();
    for _ in 0..RESEED_WORDS + 10 {
        entropy.word();
    }
    assert!(entropy.drawn < RESEED_WORDS);
}

#[test]
fn a_repeatable_generator_hangs_on_its_whole_key() {
    let words =
        |key| (0..20).map(|_| key).scan(Repeatable::new(key), |g, _| Some(g.word())).collect::<Vec<_>>();
    assert_eq!(words([1, 2, 3, 4]), words([1, 2, 3, 4]));
    assert!(
        [[0, 2, 3, 4], [1, 0, 3, 4], [1, 2, 0, 4], [1, 2, 3, 0]]
            .iter()
            .all(|k| words(*k) != words([1, 2, 3, 4]))
    );
}

#[test]
fn streams_differ() {
    let mut entropy = Entropy::new().unwrap();
    let (mut a, mut b) = (Stream::new(&mut entropy), Stream::new(&mut entropy));
    assert_ne!(a.word(), b.word());
}

/// The generator may move to another thread.
#[test]
fn a_generator_is_send() {
    fn is_send<T: Send>() {}
    is_send::<Entropy>();
}
