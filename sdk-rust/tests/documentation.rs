//! The program in the documentation is one that compiles.
#![allow(clippy::unwrap_used)]

use platform_services::reqwest::Method;
use platform_services::{Backend, Error};

#[allow(dead_code)]
#[derive(serde::Deserialize)]
struct Note {}

#[test]
fn the_program_of_the_documentation_is_an_example() {
    let program = format!("```rust\n{}```\n", include_str!("../examples/notify.rs"));
    for page in [include_str!("../README.md"), include_str!("../../docs/app-authors.md")] {
        assert!(page.contains(&program), "put examples/notify.rs into the page");
    }
}

/// Never run: that it compiles is the test.
#[rustfmt::skip]
#[allow(dead_code, unused_variables)]
async fn native_clients(line: String) -> Result<(), Error> {
    let backend = Backend::connect(&line)?;
    let notes: Vec<Note> = backend.request(Method::GET, "/notes").send().await?.json().await?;
    let mut chat = backend.web_socket("/chat").await?;
    chat.send("hello").await?;
    while let Some(message) = chat.receive().await? { /* … */ }
    Ok(())
}

#[test]
fn the_lines_of_native_clients_compile() {
    let compiled = include_str!("documentation.rs");
    let mut found = 0;
    for page in [include_str!("../README.md"), include_str!("../../docs/app-authors.md")] {
        let shown = page.split("```rust\nlet backend").nth(1).unwrap();
        for line in shown.split("```").next().unwrap().lines().skip(1) {
            let code = line.split("  //").next().unwrap().trim();
            assert!(compiled.contains(code), "{code}");
            found += 1;
        }
    }
    assert!(found >= 6);
}
