use super::*;
use crate::fixture::Folder;
use crate::open_table;

#[test]
fn words_and_punctuation_are_tokens() {
    assert_eq!(tokens("Don't PANIC, it's 'fine'!"), ["don't", "panic", ",", "it's", "'", "fine", "'", "!"]);
    assert_eq!(tokens("  \n\t"), Vec::<String>::new());
    assert_eq!(tokens("£5 n’est"), ["£", "5", "n'est"]);
}

#[test]
fn texts_are_cut_and_padded() {
    let words = Vocabulary::parse("free\nwin\n!\n").unwrap();
    assert_eq!(words.size(), 5);
    let encode = |text: &str| {
        let mut into = Vec::new();
        words.encode(text, 4, &mut into);
        into
    };
    assert_eq!(encode("WIN a free"), [0, 3, 1, 2]);
    assert_eq!(encode("win win win win win"), [3; 4]);
    assert_eq!(encode(""), [0; 4]);
    assert_eq!(Vocabulary::parse(&words.to_text().unwrap()), Ok(words));
}

#[test]
fn characters_are_built_in() {
    let letters = Vocabulary::characters();
    assert_eq!((letters.size(), letters.kind(), letters.to_text()), (98, TokenKind::Characters, None));
    let text = "To be,\r\nor not — to be";
    let found = letters.positions_of(text);
    assert_eq!(letters.text_of(&found), "To be,\nor not \u{fffd} to be");
    assert_eq!((found[0], found[2]), (2 + u32::from(b'T' - b' '), 2));
    let words = Vocabulary::parse("to\nbe\n").unwrap();
    assert_eq!(words.text_of(&[PADDING, 2, 3, UNKNOWN, 99]), "to be \u{fffd}");
}

#[test]
fn whole_texts_are_read_with_their_users() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "who,say\n7,ab\n8,\n7,c\n");
    let schema = Schema::parse("unit = { column = \"who\" }\n[columns]\n", "s").unwrap();
    let letters = Vocabulary::characters();
    let plan = TextPlan { column: "say", schema: &schema, vocabulary: &letters, length: 1 };
    let table = open_table(&path).unwrap();
    let read = plan.read_whole(&table, true, &mut |_| {}).unwrap();
    let texts: Vec<String> = read.texts().map(|text| letters.text_of(text)).collect();
    assert_eq!(
        (texts, read.users),
        (vec!["ab".to_owned(), String::new(), "c".to_owned()], Some(vec![0, 1, 0]))
    );
    assert_eq!(plan.read_whole(&table, false, &mut |_| {}).unwrap().users, None);
}

#[test]
fn poor_vocabularies_are_refused() {
    for (text, part) in [("", "no tokens"), ("a\n\nb\n", "line 2"), ("a\nb\na\n", "line 3 repeats")] {
        assert!(Vocabulary::parse(text).unwrap_err().contains(part), "{text}");
    }
}

#[test]
fn a_table_becomes_positions_labels_and_users() {
    let folder = Folder::new();
    let path = folder.file("t.csv", "who,say,y\n7,win !,spam\n8,hello,ham\n7,,spam\n");
    let schema = "unit = { column = \"who\" }\n[label]\ncolumn = \"y\"\npositive = \"spam\"\n[columns]\n";
    let schema = Schema::parse(schema, "s").unwrap();
    let words = Vocabulary::parse("win\n!\n").unwrap();
    let plan = TextPlan { column: "say", schema: &schema, vocabulary: &words, length: 2 };
    let table = open_table(&path).unwrap();
    let texts = plan.read(&table, true, &mut |_| {}).unwrap();
    assert_eq!(texts.positions, [2, 3, 0, 1, 0, 0]);
    assert_eq!((texts.labels, texts.users), (vec![1.0, -1.0, 1.0], Some(vec![0, 1, 0])));
    let bare = plan.read(&table, false, &mut |_| {}).unwrap();
    assert!(bare.labels.is_empty() && bare.users.is_none());
    let other = TextPlan { column: "sey", ..plan };
    assert!(other.read(&table, true, &mut |_| {}).unwrap_err().to_string().contains("did you mean \"say\""));
}

#[test]
fn common_words_are_built_in_and_numbers_have_shapes() {
    let words = Vocabulary::english().unwrap();
    assert_eq!((words.size(), words.kind()), (10_002, TokenKind::Words));
    assert_eq!(Vocabulary::parse(&words.to_text().unwrap()).unwrap(), words);
    for token in ["the", "free", "don't", "£", "!", "u", "7", "0000"] {
        assert_ne!(words.position(token), UNKNOWN, "{token}");
        assert_eq!(tokens(token), [token], "a text can have it");
    }
    assert_eq!(words.position("2026"), words.position("0000"));
    assert_eq!(words.position("08712345678901234"), words.position("000000000000"));
    assert_ne!(words.position("12"), words.position("123"));
    for token in ["150p", "qwertyuiop", "٤٤"] {
        assert_eq!(words.position(token), UNKNOWN, "{token}");
    }
    // Vocabularies without shapes are as they were.
    assert_eq!(Vocabulary::parse("win\n").unwrap().position("2026"), UNKNOWN);
}
