//! Tools: what is sent to the hub, and every way in which it answers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use platform_services::{Error, ErrorCode};
use serde_json::{Value, json};
use support::{Platform, Reply, Seen};

async fn answering(answer: impl Fn(&Seen) -> Value + Send + Sync + 'static) -> Platform {
    Platform::start(move |seen| {
        let mut answer = answer(seen);
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = seen.body["id"].clone();
        Reply::Json(200, answer)
    })
    .await
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } })
}

#[tokio::test]
async fn tools_are_listed_to_the_last_page_with_what_the_platform_says_of_them() {
    let platform = answering(|seen| match seen.body["params"]["cursor"].as_str() {
        None => json!({ "result": { "tools": [tool("a.one")], "nextCursor": "next" } }),
        Some("next") => {
            let mut last = tool("b.two");
            last["description"] = json!("[b says:] Two.");
            last["_meta"] = json!({ "platform/app": { "id": "b", "name": "Bee" }, "platform/approval": "required" });
            json!({ "result": { "tools": [last] } })
        }
        other => panic!("{other:?}"),
    })
    .await;
    let tools = platform.client().tools().list().await.unwrap();
    assert_eq!(
        tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        ["a.one", "b.two"]
    );
    assert!(tools[0].app().is_none() && !tools[0].needs_approval());
    assert_eq!(tools[0].annotations["readOnlyHint"], json!(true));
    assert_eq!(tools[1].app().unwrap().name, "Bee");
    assert!(tools[1].needs_approval());
    let seen = &platform.seen()[0];
    assert_eq!(seen.line, "POST /v1/services/mcp");
    assert_eq!(seen.headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(seen.headers["mcp-method"], "tools/list");
    assert!(!seen.headers.contains_key("mcp-name") && !seen.headers.contains_key("platform-tool-chain"));
    let meta = &seen.body["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], json!("2026-07-28"));
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
}

#[tokio::test]
async fn a_list_without_an_end_is_left() {
    let platform = answering(|_| json!({ "result": { "tools": [], "nextCursor": "again" } })).await;
    assert!(platform.client().tools().list().await.unwrap().is_empty());
    assert_eq!(platform.seen().len(), 20);
}

#[tokio::test]
async fn a_call_names_its_tool_its_app_and_the_chain_it_is_made_in() {
    let platform = answering(
        |_| json!({ "result": { "content": [{ "type": "text", "text": "kept" }], "structuredContent": { "count": 3 } } }),
    )
    .await;
    let client = platform.client();
    let tools = client.tools().of_app("notes").in_chain("c.1");
    let result = tools.call("add", &json!({ "note": "milk" })).await.unwrap();
    assert_eq!((result.text().as_str(), result.is_error), ("kept", false));
    #[derive(serde::Deserialize)]
    struct Count {
        count: u32,
    }
    assert_eq!(result.structured::<Count>().unwrap().count, 3);
    assert_eq!(result.structured::<Vec<u8>>().unwrap_err().code(), "invalid_answer");
    assert_eq!(result.proposal().unwrap_err().code(), "invalid_answer");
    let seen = &platform.seen()[0];
    assert_eq!(seen.line, "POST /v1/services/mcp/notes");
    assert_eq!(
        (&*seen.headers["mcp-name"], &*seen.headers["platform-tool-chain"]),
        ("add", "c.1")
    );
    assert_eq!(seen.body["params"]["arguments"], json!({ "note": "milk" }));
    assert_eq!(seen.body["params"]["_meta"]["platform/propose"], Value::Null);
    for name in ["", "a b", "a\nb", "ä"] {
        assert_eq!(
            tools.call(name, &json!({})).await.unwrap_err().code(),
            "invalid_request"
        );
    }
    assert_eq!(
        client.tools().of_app("../x").list().await.unwrap_err().code(),
        "invalid_request"
    );
    assert_eq!(platform.seen().len(), 1);
}

#[tokio::test]
async fn a_proposal_is_asked_for_and_read() {
    let proposal =
        json!({ "id": "prop-1", "state": "pending", "tool": "notes.add", "expiresAt": "2026-11-28T10:00:00.000Z" });
    let kept = proposal.clone();
    let platform =
        answering(move |_| json!({ "result": { "content": [], "structuredContent": { "proposal": proposal } } })).await;
    let client = platform.client();
    let made = client.tools().propose("notes.add", &json!({})).await.unwrap();
    assert_eq!((made.id.as_str(), made.tool.as_str()), ("prop-1", "notes.add"));
    assert_eq!(
        platform.seen()[0].body["params"]["_meta"]["platform/propose"],
        json!(true)
    );
    let called = client.tools().call("notes.add", &json!({})).await.unwrap();
    assert_eq!(
        called.proposal().unwrap().expires_at,
        kept["expiresAt"].as_str().unwrap()
    );
}

#[tokio::test]
async fn an_answer_may_follow_news_of_progress_on_a_stream() {
    let events = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n\
                  : alive\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n\n";
    let platform = Platform::start(|_| Reply::Text(200, "text/event-stream", events.to_owned())).await;
    assert!(
        platform
            .client()
            .tools()
            .call("a.b", &json!({}))
            .await
            .unwrap()
            .content
            .is_empty()
    );
    let silent = Platform::start(|_| Reply::Text(200, "text/event-stream", ": alive\n\n".to_owned())).await;
    let error = silent.client().tools().call("a.b", &json!({})).await.unwrap_err();
    assert_eq!(error.code(), "invalid_answer");
}

#[tokio::test]
async fn each_way_to_fail_is_a_kind_of_error() {
    let invalid = answering(|_| json!({ "error": { "code": -32_602, "message": "Unknown tool: x" } })).await;
    let error = invalid.client().tools().call("x", &json!({})).await.unwrap_err();
    assert!(matches!(&error, Error::Protocol { code: -32_602, .. }));
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("invalid_request", "Unknown tool: x")
    );

    let own = answering(|_| json!({ "error": { "code": -1, "message": "No." } })).await;
    assert_eq!(
        own.client().tools().call("x", &json!({})).await.unwrap_err().code(),
        "upstream_failed"
    );

    let failed =
        answering(|_| json!({ "result": { "content": [{ "type": "text", "text": "no" }], "isError": true } })).await;
    assert!(failed.client().tools().call("x", &json!({})).await.unwrap().is_error);

    let refused = answering(|_| {
        json!({ "result": { "isError": true, "content": [{ "type": "text", "text": "rate_limited: Wait a minute." }],
            "_meta": { "platform/refusal": { "code": "rate_limited", "retryAfter": 60 } } } })
    })
    .await;
    let error = refused.client().tools().call("x", &json!({})).await.unwrap_err();
    let refusal = error.refusal().unwrap();
    assert_eq!(
        (&refusal.code, refusal.detail.as_str()),
        (&ErrorCode::RateLimited, "Wait a minute.")
    );
    assert_eq!(refusal.retry_after, Some(Duration::from_secs(60)));

    let missing = Platform::start(|_| Reply::Problem(403, "grant_missing")).await;
    assert_eq!(
        missing.client().tools().list().await.unwrap_err().code(),
        "grant_missing"
    );
    let odd = answering(|_| json!({ "result": 7 })).await;
    assert_eq!(odd.client().tools().list().await.unwrap_err().code(), "invalid_answer");
}

#[tokio::test]
async fn a_list_outlasts_a_restart_and_a_call_is_sent_once() {
    let platform = Platform::start(|_| Reply::Problem(503, "unavailable")).await;
    let client = platform.client();
    assert_eq!(client.tools().list().await.unwrap_err().code(), "unavailable");
    assert_eq!(platform.seen().len(), 3);
    assert_eq!(
        client.tools().call("x", &json!({})).await.unwrap_err().code(),
        "unavailable"
    );
    assert_eq!(platform.seen().len(), 4);
    let silent = Platform::start(|_| Reply::Silence).await;
    let limit = Duration::from_millis(50);
    let error = silent
        .client()
        .tools()
        .timeout(limit)
        .call("x", &json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), "timed_out");
}
