//! One call: what is sent, what is repeated, and how it fails.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use platform_services::reqwest::Method;
use platform_services::{
    ConversationState, Error, ErrorCode, MessagingSync, MessagingTransport, NotificationFilter, PageOptions,
    PlatformServicesClient, PublishNotification, SearchEntry, WorkLeaseOptions,
};
use serde_json::{Value, json};
use support::{Platform, Reply, TOKEN, notification};

fn everything() -> Value {
    json!({ "items": [], "nextCursor": null, "notification": notification("T"), "indexed": 1, "updated": 1,
        "lease": { "id": "lease-1", "expiresAt": "2026-11-23T10:00:00.000Z" }, "run": support::run("running", Value::Null)["run"] })
}

/// Answers so often like a platform that restarts, then as it should.
async fn restarting(failures: usize) -> Platform {
    let sent = AtomicUsize::new(0);
    Platform::start(move |_| match sent.fetch_add(1, Ordering::SeqCst) {
        number if number >= failures => Reply::Json(200, everything()),
        number if number % 2 == 0 => Reply::Close,
        _ => Reply::Problem(503, "unavailable"),
    })
    .await
}

async fn refusing(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Platform {
    Platform::start(move |_| reply()).await
}

#[tokio::test]
async fn a_call_carries_the_credential_the_query_and_json() {
    let platform = restarting(0).await;
    let client = platform.client();
    let page = PageOptions {
        limit: Some(2),
        cursor: Some("a b&c".into()),
    };
    client
        .notifications()
        .list_with(NotificationFilter {
            unread_only: true,
            page,
            topic: None,
        })
        .await
        .unwrap();
    client.search().remove("a+b c?").await.unwrap();
    for id in ["a/b", "a\\b", "a\nb"] {
        assert_eq!(client.search().remove(id).await.unwrap_err().code(), "invalid_request");
    }
    client
        .notifications()
        .publish(&PublishNotification::new("t", "T"))
        .await
        .unwrap();
    let seen = platform.seen();
    assert_eq!(
        seen[0].line,
        "GET /v1/services/notifications?limit=2&cursor=a+b%26c&unread=true"
    );
    assert_eq!(seen[0].headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(seen[1].line, "DELETE /v1/services/search/index/a+b%20c%3F");
    assert_eq!(seen[2].body, json!({ "topic": "t", "title": "T" }));
    assert_eq!(seen[2].headers["content-type"], "application/json");
}

macro_rules! repeated {
    ($($name:ident: $call:expr;)+) => { $(
        #[tokio::test]
        async fn $name() {
            let call: fn(PlatformServicesClient) -> _ = $call;
            let (passing, lasting) = (restarting(2).await, restarting(9).await);
            let (passed, lasted) = tokio::join!(call(passing.client()), call(lasting.client()));
            passed.unwrap();
            assert_eq!(lasted.unwrap_err().code(), "network_failed");
            assert_eq!((passing.seen().len(), lasting.seen().len()), (3, 3));
        }
    )+ };
}

repeated! {
    a_read_outlasts_a_restart: |client| async move { client.list_apps().await.map(|_| ()) };
    a_mark_outlasts_a_restart: |client| async move { client.notifications().read("ntf-1").await.map(|_| ()) };
    a_publication_with_a_dedupe_key_outlasts_a_restart: |client| async move {
        let keyed = PublishNotification { dedupe_key: Some("k".into()), ..PublishNotification::new("t", "T") };
        client.notifications().publish(&keyed).await.map(|_| ())
    };
    a_change_of_the_index_outlasts_a_restart: |client| async move {
        client.search().upsert([SearchEntry::new("a", "A", "/a")]).await.map(|_| ())
    };
    a_renewal_outlasts_a_restart: |client| async move { client.renew_work_lease("lease-1", None).await.map(|_| ()) };
}

macro_rules! sent_once {
    ($($name:ident: $call:expr;)+) => { $(
        #[tokio::test]
        async fn $name() {
            let call: fn(PlatformServicesClient) -> _ = $call;
            let platform = restarting(1).await;
            assert_eq!(call(platform.client()).await.unwrap_err().code(), "network_failed");
            assert_eq!(platform.seen().len(), 1);
        }
    )+ };
}

sent_once! {
    a_publication_without_a_dedupe_key_is_sent_once: |client| async move {
        client.notifications().publish(&PublishNotification::new("t", "T")).await.map(|_| ())
    };
    marking_all_records_is_sent_once: |client| async move { client.notifications().read_all().await.map(|_| ()) };
    a_new_work_lease_is_sent_once: |client| async move {
        client.acquire_work_lease(WorkLeaseOptions::default()).await.map(|_| ())
    };
    cancelling_a_run_is_sent_once: |client| async move { client.workflows().cancel("wf-1").await };
    a_request_to_an_outside_service_is_sent_once: |client| async move {
        client.outbound_request(Method::GET, "crm", "x").send().await.map(|_| ())
    };
}

#[tokio::test]
async fn what_the_platform_decided_or_asks_a_long_patience_for_is_not_repeated() {
    for (status, code, wait) in [
        (403, "grant_missing", 0),
        (429, "rate_limited", 0),
        (500, "internal_error", 0),
        (503, "runtime_paused", 0),
        (503, "unavailable", 60),
    ] {
        let platform = refusing(move || Reply::Later(status, code, wait)).await;
        let error = platform.client().list_apps().await.unwrap_err();
        assert_eq!((error.code(), error.status()), (code, Some(status)));
        let refusal = error.refusal().unwrap();
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(wait.into())));
        assert_eq!(refusal.request_id.as_deref(), Some("req-1"));
        assert_eq!(platform.seen().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn a_code_of_a_newer_platform_is_kept() {
    let platform = refusing(|| Reply::Problem(418, "teapot")).await;
    let error = platform.client().system().await.unwrap_err();
    assert_eq!(error.code(), "teapot");
    assert_eq!(error.refusal().unwrap().code, ErrorCode::Other("teapot".into()));
    assert_eq!(error.to_string(), "Refused with teapot. (teapot)");
}

#[tokio::test]
async fn answers_outside_of_the_protocol_are_said_to_be() {
    let html = || Reply::Text(502, "text/html", "<h1>Bad gateway</h1>".into());
    let wrong = || Reply::Json(200, json!({ "items": 3 }));
    let elsewhere = || Reply::Redirect("/elsewhere".into());
    for reply in [html as fn() -> Reply, wrong, elsewhere] {
        let platform = refusing(reply).await;
        let error = platform.client().list_apps().await.unwrap_err();
        assert_eq!(error.code(), "invalid_answer", "{error}");
        assert_eq!(
            platform.seen().len(),
            1,
            "a redirect is not followed with the credential"
        );
    }
}

#[tokio::test]
async fn silence_ends_with_the_time_limit() {
    let platform = refusing(|| Reply::Silence).await;
    let limit = Duration::from_millis(20);
    let client = PlatformServicesClient::builder(&platform.url, TOKEN)
        .timeout(limit)
        .build()
        .unwrap();
    assert!(matches!(client.system().await, Err(Error::TimedOut(after)) if after == limit));
    let request = client
        .intelligence_request(Method::GET, "openai", "models")
        .timeout(limit);
    assert!(matches!(request.send().await, Err(Error::TimedOut(after)) if after == limit));
}

#[tokio::test]
async fn nobody_there_is_a_failed_network() {
    let client = PlatformServicesClient::builder("http://127.0.0.1:1/", TOKEN)
        .build()
        .unwrap();
    let error = client.notifications().read_all().await.unwrap_err();
    assert_eq!(error.code(), "network_failed");
    assert!(!format!("{error:?}").contains(TOKEN));
}

#[tokio::test]
async fn ids_that_an_address_would_swallow_are_not_sent() {
    let platform = restarting(0).await;
    for id in ["", ".", ".."] {
        assert_eq!(
            platform.client().search().remove(id).await.unwrap_err().code(),
            "invalid_request"
        );
    }
    assert_eq!(platform.seen().len(), 0);
}

#[tokio::test]
async fn an_outside_service_answers_for_itself_and_the_platform_for_its_refusals() {
    let own = json!({ "type": "https://crm.example/errors/1", "code": "theirs" }).to_string();
    let platform = Platform::start(move |seen| match seen.line.as_str() {
        "GET /v1/services/outbound/crm/theirs?a=1" => Reply::Text(409, "application/problem+json", own.clone()),
        _ => Reply::Problem(403, "not_authorized"),
    })
    .await;
    let client = platform.client();
    let answer = client
        .outbound_request(Method::GET, "crm", "/theirs")
        .query(&[("a", 1)])
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 409);
    assert!(answer.text().await.unwrap().contains("theirs"));
    let refused = client
        .outbound_request(Method::POST, "crm", "x")
        .body("y")
        .send()
        .await
        .unwrap_err();
    assert_eq!((refused.code(), refused.status()), ("not_authorized", Some(403)));
    let credentials = client
        .outbound_request(Method::GET, "crm", "x")
        .header("authorization", "Basic x")
        .send()
        .await;
    assert_eq!(credentials.unwrap_err().code(), "invalid_request");
    let outside = client
        .intelligence_request(Method::GET, "openai", "../../outbound/crm/x")
        .send()
        .await;
    assert_eq!(outside.unwrap_err().code(), "invalid_request");
    assert_eq!(platform.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refused_capability_is_renewed_once_for_all_and_not_again_at_once() {
    let _clock = support::HeldClock::hold();
    let platform = Platform::start(|seen| match seen.headers["authorization"].as_str() {
        "Bearer second" => Reply::Json(200, everything()),
        _ => Reply::Problem(401, "session_expired"),
    })
    .await;
    let renewals = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&renewals);
    let renew = move || {
        let tokens = [Some("second"), None, Some("second")];
        let token = tokens[counted.fetch_add(1, Ordering::SeqCst)];
        async move { token.map(str::to_owned) }
    };
    let client = PlatformServicesClient::builder(&platform.url, "first")
        .renew_with(renew)
        .build()
        .unwrap();
    let (notifications, again) = (client.notifications(), client.clone());
    let (one, other) = tokio::join!(notifications.read_all(), again.system());
    one.unwrap();
    assert_eq!(
        other.unwrap_err().code(),
        "invalid_answer",
        "it was sent again with the new one"
    );
    assert_eq!(renewals.load(Ordering::SeqCst), 1);

    let ended = platform.client();
    assert_eq!(
        ended.notifications().read_all().await.unwrap_err().code(),
        "session_expired"
    );
    assert_eq!(renewals.load(Ordering::SeqCst), 1, "a workload has nobody to ask");
}

#[test]
fn a_process_that_the_platform_did_not_start_has_no_client() {
    let error = PlatformServicesClient::from_variables(|_| None).unwrap_err();
    assert_eq!(error.code(), "not_launched");
    let half = |name: &str| (name == "PLATFORM_API_URL").then(|| "http://127.0.0.1:1".to_owned());
    assert_eq!(
        PlatformServicesClient::from_variables(half).unwrap_err().code(),
        "not_launched"
    );
}

#[test]
fn object_storage_comes_from_the_environment_as_a_whole() {
    let all = |name: &str| {
        Some(
            if name == "PLATFORM_API_URL" {
                "http://127.0.0.1:1"
            } else {
                name
            }
            .to_owned(),
        )
    };
    let client = PlatformServicesClient::from_variables(all).unwrap();
    assert_eq!(
        client.object_storage().unwrap().session_token,
        "PLATFORM_S3_SESSION_TOKEN"
    );
    assert!(
        !format!("{client:?}").contains("SESSION_TOKEN"),
        "a client shows no credential"
    );
    let without = |name: &str| all(name).filter(|_| name != "PLATFORM_S3_BUCKET");
    assert!(
        PlatformServicesClient::from_variables(without)
            .unwrap()
            .object_storage()
            .is_none()
    );
}

#[cfg(feature = "rustls")]
#[tokio::test]
async fn https_asks_for_a_certificate() {
    let platform = restarting(0).await;
    let address = platform.url.replace("http:", "https:");
    let client = PlatformServicesClient::builder(address, TOKEN).build().unwrap();
    assert_eq!(
        client.notifications().read_all().await.unwrap_err().code(),
        "network_failed"
    );
    assert_eq!(platform.seen().len(), 0);
}

#[cfg(not(feature = "rustls"))]
#[test]
fn https_needs_its_feature() {
    let error = PlatformServicesClient::builder("https://platform.example", TOKEN)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), "invalid_request");
}

fn conversation() -> Value {
    json!({ "id": "conv-1", "kind": "direct", "transport": "bridge", "state": "open", "unread": 0, "encrypted": true,
        "participants": [{ "address": "@alice:example.org", "transportUserId": "@alice:example.org" }],
        "createdAt": "2026-11-23T10:00:00.000Z", "lastMessageAt": null })
}

fn message() -> Value {
    json!({ "id": "msg-1", "conversationId": "conv-1", "sender": { "address": "@alice:example.org" }, "body": "Hello",
        "kind": "text", "sentAt": "2026-11-23T10:00:00.000Z" })
}

#[tokio::test]
async fn messages_are_sent_read_and_followed() {
    let failures = AtomicUsize::new(0);
    let platform = Platform::start(move |_| {
        if failures.fetch_add(1, Ordering::SeqCst) == 0 {
            return Reply::Close;
        }
        let user = json!({ "address": "ada@example.com", "transportUserId": "@ada:example.com", "transport": "bridge",
            "provisioned": true, "external": false });
        Reply::Json(
            200,
            json!({ "identity": user, "contact": user, "conversation": conversation(), "message": message(),
                "conversations": [conversation()], "messages": [message()], "items": [], "nextCursor": null,
                "cursor": "c2", "hasMore": false }),
        )
    })
    .await;
    let client = platform.client();
    let messaging = client.messaging();
    assert_eq!(
        messaging.identity().await.unwrap().transport,
        MessagingTransport::Bridge
    );
    let contact = messaging.resolve("@alice:example.org").await.unwrap();
    assert!(!contact.external);
    let opened = messaging.direct(contact.transport_user_id).await.unwrap();
    assert_eq!(opened.state, ConversationState::Open);
    let sent = messaging.send(&opened.id, "t-1", "Hello").await.unwrap();
    assert_eq!(sent.body, "Hello");
    messaging.read(&opened.id, sent.id).await.unwrap();
    for acted in [
        messaging.accept(&opened.id).await,
        messaging.decline(&opened.id).await,
        messaging.leave(&opened.id).await,
        messaging.block(&opened.id).await,
    ] {
        assert_eq!(acted.unwrap().last_message_at, None);
    }
    assert!(messaging.conversations().await.unwrap().items.is_empty());
    assert!(
        messaging
            .messages(&opened.id, PageOptions::default())
            .await
            .unwrap()
            .items
            .is_empty()
    );
    let sync = MessagingSync {
        cursor: Some("c1".into()),
        timeout_ms: Some(20_000),
        limit: None,
    };
    let news = messaging.sync(&sync).await.unwrap();
    assert_eq!(
        (news.cursor.as_str(), news.messages.len(), news.has_more),
        ("c2", 1, false)
    );
    let seen = platform.seen();
    let body = |line: &str| {
        seen.iter()
            .find(|one| one.is(line))
            .map(|one| one.body.clone())
            .unwrap()
    };
    assert_eq!(
        body("POST /v1/services/messaging/conversations/conv-1/messages"),
        json!({ "transactionId": "t-1", "message": { "body": "Hello" } })
    );
    assert_eq!(
        body("POST /v1/services/messaging/sync"),
        json!({ "cursor": "c1", "timeoutMs": 20_000 })
    );
}
