//! What looks like a secret is masked, however it comes.

use harn_env::command::Sink as _;
use harn_env::redact::{MASK, Redactor};
use proptest::prelude::*;

/// B32: texts with a secret, and without it.
#[test]
fn b_32_secrets_are_masked() {
    let redactor = Redactor::new().with_values(["hunter2-hunter2", "abc"]);
    let token = |prefix: &str, length: usize| format!("{prefix}{}", "aB3".repeat(20).get(..length).unwrap());
    let jwt = format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{}", "x1".repeat(20));
    let cases = [
        (format!("using {}", token("ghp_", 36)), format!("using {MASK}")),
        (format!("export GH={};", token("github_pat_", 40)), format!("export GH={MASK};")),
        (token("sk-ant-", 40), MASK.to_owned()),
        (format!("key {} ok", token("AKIA", 16)), format!("key {MASK} ok")),
        (format!("<{}>", token("xoxb-", 20)), format!("<{MASK}>")),
        (jwt.clone(), MASK.to_owned()),
        ("Authorization: Bearer abcdef123456".to_owned(), format!("Authorization: Bearer {MASK}")),
        ("password=letmein now".to_owned(), format!("password={MASK} now")),
        ("DB_PASSWORD: 'sw0rdfish'".to_owned(), format!("DB_PASSWORD: '{MASK}'")),
        (r#"{"api_key": "0123456789", "n": 1}"#.to_owned(), format!(r#"{{"api_key": "{MASK}", "n": 1}}"#)),
        ("clone https://ann:s3cr3t@host/x.git".to_owned(), format!("clone https://ann:{MASK}@host/x.git")),
        ("it is hunter2-hunter2!".to_owned(), format!("it is {MASK}!")),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nb\n".to_owned(),
            format!("a\n-----BEGIN RSA PRIVATE KEY-----\n{MASK}\n-----END RSA PRIVATE KEY-----\nb\n"),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(redactor.text(&text), expected, "{text}");
    }
}

#[test]
fn what_is_no_secret_stays() {
    let redactor = Redactor::new();
    for text in [
        "error: unexpected token: `function` at line 3",
        "test tokens::the_token_is_found ... ok",
        "sk-learn 1.4, task-123, AKIA is a prefix",
        "https://example.com:8080/path@v2",
        "the secret of good tests",
        "password is required",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "a = b; c: d",
        "\u{1f980} ünïcode \r\n\n",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

#[test]
fn names_of_variables() {
    for name in ["GITHUB_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY"] {
        assert!(Redactor::is_secret_name(name), "{name}");
    }
    for name in ["PATH", "HOME", "KEYBOARD", "LANG"] {
        assert!(!Redactor::is_secret_name(name), "{name}");
    }
}

/// All that a sink gets of `chunks`.
fn through(redactor: &Redactor, chunks: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sink = redactor.sink(&mut out);
    for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
        sink.receive(chunk).unwrap();
    }
    sink.finish().unwrap();
    out
}

#[test]
fn a_line_of_any_length_keeps_memory_flat_and_its_tokens_whole() {
    let redactor = Redactor::new();
    let secret = format!("ghp_{}", "x".repeat(36));
    let line = format!("{} {secret} {}", "word ".repeat(13_105), "y".repeat(300_000));
    let masked = through(&redactor, &[line.as_bytes()]);
    assert_eq!(String::from_utf8(masked).unwrap(), line.replace(&secret, MASK));
}

proptest! {
    /// How a stream is cut into chunks makes no difference, and bytes that are no text pass.
    #[test]
    fn chunks_make_no_difference(
        pieces in prop::collection::vec(prop_oneof![
            Just(b"password=".to_vec()), Just(b"letmein!".to_vec()), Just(b"ghp_0123456789abcdefghij0123456789abcdef".to_vec()),
            Just(b"\n".to_vec()), Just(b"https://a:bcd@e/".to_vec()), Just(b"-----BEGIN PRIVATE KEY-----\n".to_vec()),
            Just(b"-----END PRIVATE KEY-----\n".to_vec()), prop::collection::vec(any::<u8>(), 0..5),
        ], 0..12),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let whole = pieces.concat();
        let redactor = Redactor::new().with_values(["letmein!"]);
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
        places.extend([0, whole.len()]);
        places.sort_unstable();
        let chunks: Vec<&[u8]> = places.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
        let once = through(&redactor, &[&whole]);
        prop_assert_eq!(&through(&redactor, &chunks), &once);
        prop_assert!(!once.windows(8).any(|window| window == b"letmein!"));
    }
}
