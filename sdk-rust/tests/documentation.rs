//! The program in the documentation is one that compiles.
#![allow(clippy::unwrap_used)]

#[test]
fn the_program_of_the_documentation_is_an_example() {
    let program = format!("```rust\n{}```\n", include_str!("../examples/notify.rs"));
    for page in [include_str!("../README.md"), include_str!("../../docs/app-authors.md")] {
        assert!(page.contains(&program), "put examples/notify.rs into the page");
    }
}
