//! Asks an AI model, or calls an outside service with a secret that only the Gateway has:
//!
//! ```sh
//! services ask openai small "Say hello."
//! services call crm "issues?state=open"
//! ```

use std::process::ExitCode;

use platform_services::reqwest::{self, Method};
use platform_services::{Error, PlatformServicesClient};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answer = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ask", provider, model, question] => ask(provider, model, question).await,
        ["call", slot, path] => call(slot, path).await,
        _ => {
            eprintln!("Usage: services ask <provider> <model> <question> | services call <slot> <path>");
            return ExitCode::FAILURE;
        }
    };
    match answer {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", error.code());
            ExitCode::FAILURE
        }
    }
}

/// In the words of the provider's own protocol: here that of chat completions.
async fn ask(provider: &str, model: &str, question: &str) -> Result<String, Error> {
    let platform = PlatformServicesClient::from_env()?;
    let body = json!({ "model": model, "messages": [{ "role": "user", "content": question }] });
    let request = platform
        .intelligence_request(Method::POST, provider, "chat/completions")
        .json(&body);
    let answer: Value = request.send().await?.json().await.map_err(unreadable)?;
    Ok(answer["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

/// What the service answers, whatever its status.
async fn call(slot: &str, path: &str) -> Result<String, Error> {
    let platform = PlatformServicesClient::from_env()?;
    let answer = platform.outbound_request(Method::GET, slot, path).send().await?;
    let status = answer.status().as_u16();
    Ok(format!("{status} {}", answer.text().await.map_err(unreadable)?))
}

fn unreadable(error: reqwest::Error) -> Error {
    Error::InvalidAnswer(error.to_string())
}
