//! A native client: asks the backend of an app, and talks to it over a WebSocket until the platform ends that. The connection
//! is read from the standard input, where no other process sees it:
//!
//! ```sh
//! echo "$LINE" | native get /notes
//! echo "$LINE" | native chat /chat hello
//! ```

use std::io::Read;
use std::process::ExitCode;

use platform_services::reqwest::Method;
use platform_services::{Backend, Error};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["get", path] => get(path).await,
        ["chat", path, text] => chat(path, text).await,
        _ => {
            eprintln!("Usage: native get <path> | native chat <path> <text>");
            return ExitCode::FAILURE;
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", error.code());
            ExitCode::FAILURE
        }
    }
}

fn backend() -> Result<Backend, Error> {
    let mut line = String::new();
    let unread = |error: std::io::Error| Error::InvalidRequest(error.to_string());
    std::io::stdin().read_to_string(&mut line).map_err(unread)?;
    Backend::connect(&line)
}

async fn get(path: &str) -> Result<(), Error> {
    let answer = backend()?.request(Method::GET, path).send().await?;
    let status = answer.status().as_u16();
    let text = answer.text().await?;
    println!("{status} {text}");
    Ok(())
}

async fn chat(path: &str, text: &str) -> Result<(), Error> {
    let mut socket = backend()?.web_socket(path).await?;
    socket.send(text).await?;
    while let Some(message) = socket.receive().await? {
        println!("{message}");
    }
    Ok(())
}
