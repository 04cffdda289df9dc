//! Asks an AI model, calls an outside service with a secret that only the Gateway has, or uses the tools of other apps:
//!
//! ```sh
//! services ask openai small "Say hello."
//! services call crm "issues?state=open"
//! services tools
//! services tool notes.add '{ "note": "milk" }'
//! services propose notes.add '{ "note": "milk" }'
//! ```

use std::process::ExitCode;

use platform_services::reqwest::{self, Method};
use platform_services::{Error, PlatformServicesClient};
use serde_json::Value;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let answer = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ask", provider, model, question] => ask(provider, model, question).await,
        ["call", slot, path] => call(slot, path).await,
        ["tools"] => tools().await,
        ["tool", name, given] => tool(name, given).await,
        ["propose", name, given] => propose(name, given).await,
        _ => {
            eprintln!(
                "Usage: services ask <provider> <model> <question> | services call <slot> <path>\n       \
                 services tools | services tool <name> <arguments> | services propose <name> <arguments>"
            );
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
    let body = serde_json::json!({ "model": model, "messages": [{ "role": "user", "content": question }] });
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

/// One in each line, with what its app says of it.
async fn tools() -> Result<String, Error> {
    let tools = PlatformServicesClient::from_env()?.tools().list().await?;
    let lines = tools.iter().map(|tool| {
        let approval = if tool.needs_approval() {
            " (you approve each call)"
        } else {
            ""
        };
        format!(
            "{}{approval} {}",
            tool.name,
            tool.description.as_deref().unwrap_or_default()
        )
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

async fn tool(name: &str, given: &str) -> Result<String, Error> {
    let result = PlatformServicesClient::from_env()?
        .tools()
        .call(name, &json(given)?)
        .await?;
    let outcome = if result.is_error { "failed" } else { "done" };
    Ok(format!("{outcome} {}", result.text()))
}

/// The person finds it in the platform.
async fn propose(name: &str, given: &str) -> Result<String, Error> {
    let proposal = PlatformServicesClient::from_env()?
        .tools()
        .propose(name, &json(given)?)
        .await?;
    Ok(format!(
        "{} {} waits until {}",
        proposal.id, proposal.tool, proposal.expires_at
    ))
}

fn json(given: &str) -> Result<Value, Error> {
    serde_json::from_str(given).map_err(|error| Error::InvalidRequest(error.to_string()))
}

fn unreadable(error: reqwest::Error) -> Error {
    Error::InvalidAnswer(error.to_string())
}
