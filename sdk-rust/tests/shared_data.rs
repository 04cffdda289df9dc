//! Wallet, collections and files: what is sent, on which condition, and what of it is repeated.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use platform_services::{
    Condition, CreateCollection, FileAccess, FileAccessEntry, FilePrincipal, GivenRole, InviteMember, Money,
    PageOptions, PlatformServicesClient, ProposePayment, ProposePolicy,
};
use serde_json::{Value, json};
use support::{Platform, Reply};

const AT: &str = "2026-11-23T10:00:00.000Z";

fn everything() -> Value {
    let file = json!({ "id": "fil-1", "name": "a b.txt", "type": "text/plain", "size": 1, "etag": "\"1\"",
        "createdAt": AT, "changedAt": AT });
    json!({
        "items": [], "nextCursor": null, "entries": [], "file": file,
        "proposal": { "id": "wpr-1", "kind": "payment", "state": "pending", "createdAt": AT, "expiresAt": AT, "receipt": null },
        "collection": { "id": "col-1", "kind": "list", "name": "N", "parentId": null, "role": "owner", "createdAt": AT },
        "item": { "key": "milk", "etag": "\"2\"", "size": 1, "at": AT },
        "invitation": { "id": "civ-1", "collection": { "id": "col-1", "kind": "list", "name": "N" }, "role": "editor",
            "from": "ada@x", "appId": "app", "createdAt": AT, "expiresAt": AT },
    })
}

async fn answering() -> Platform {
    Platform::start(|_| Reply::Json(200, everything())).await
}

fn lunch() -> ProposePayment {
    let amount = Money {
        currency: "CREDIT".into(),
        value: "250".into(),
    };
    ProposePayment::new("ben", amount, "lunch")
}

#[tokio::test]
async fn bytes_are_sent_as_they_are_on_the_condition_that_was_named() {
    let platform = answering().await;
    let client = platform.client();
    let (content, files) = (client.content(), client.files());
    content.put("col-1", "milk", "x", Condition::Missing).await.unwrap();
    content
        .put("col-1", "milk", "x", Condition::Match("\"1\""))
        .await
        .unwrap();
    content.put("col-1", "milk", "x", Condition::None).await.unwrap();
    content.remove("col-1", "milk", Condition::Exists).await.unwrap();
    files.put("a b.txt", "text/plain", "{}", Condition::None).await.unwrap();
    files
        .put_shared("fil-1", "text/plain", "x", Condition::Match("\"2\""))
        .await
        .unwrap();
    files.remove("a b.txt", Condition::Match("\"1\"")).await.unwrap();
    let sent: Vec<_> = platform
        .seen()
        .into_iter()
        .map(|seen| {
            let field = |name: &str| seen.headers.get(name).cloned().unwrap_or_default();
            let condition = field("if-match") + &field("if-none-match");
            (seen.line.clone(), condition, field("content-type"))
        })
        .collect();
    let item = "/v1/services/content/collections/col-1/items/milk";
    let bytes = "application/octet-stream";
    let expected = [
        (format!("PUT {item}"), "*", bytes),
        (format!("PUT {item}"), "\"1\"", bytes),
        (format!("PUT {item}"), "", bytes),
        (format!("DELETE {item}"), "*", ""),
        ("PUT /v1/services/files/a%20b.txt".into(), "", "text/plain"),
        ("PUT /v1/services/files/shared/fil-1".into(), "\"2\"", "text/plain"),
        ("DELETE /v1/services/files/a%20b.txt".into(), "\"1\"", ""),
    ]
    .map(|(line, condition, kind)| (line, condition.to_owned(), kind.to_owned()));
    assert_eq!(sent, expected);
    assert!(platform.seen()[0].headers.contains_key("if-none-match"));
    assert!(platform.seen()[3].headers.contains_key("if-match"));
}

#[tokio::test]
async fn what_is_read_has_its_version_and_its_type() {
    let platform = Platform::start(|_| Reply::Tagged("\"7\"", "text/plain", "2 litres".into())).await;
    let client = platform.client();
    for read in [
        client.content().get("col-1", "milk").await,
        client.files().get("milk").await,
        client.files().get_shared("fil-1").await,
    ] {
        let stored = read.unwrap();
        assert_eq!(
            (&*stored.bytes, &*stored.etag, &*stored.media_type),
            (&b"2 litres"[..], "\"7\"", "text/plain")
        );
    }
}

#[tokio::test]
async fn a_collection_that_is_moved_out_names_no_parent_and_one_that_is_renamed_keeps_it() {
    let platform = answering().await;
    let client = platform.client();
    client.content().move_to("col-1", None).await.unwrap();
    client.content().move_to("col-1", Some("col-2")).await.unwrap();
    client.content().rename("col-1", "Food").await.unwrap();
    let bodies: Vec<_> = platform.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(
        bodies,
        [
            json!({ "parentId": null }),
            json!({ "parentId": "col-2" }),
            json!({ "name": "Food" })
        ]
    );
}

#[tokio::test]
async fn who_gets_access_is_told_as_the_platform_wants_it() {
    let platform = answering().await;
    let client = platform.client();
    let entries = ["app", "account"].map(|kind| FileAccessEntry {
        principal: match kind {
            "app" => FilePrincipal::App { app: "notes".into() },
            _ => FilePrincipal::Account { account: "ben".into() },
        },
        access: FileAccess::Read,
    });
    client.files().open("plan", entries.to_vec()).await.unwrap();
    let invited = InviteMember {
        to: "ben".into(),
        role: GivenRole::Editor,
    };
    client.content().invite("col-1", &invited).await.unwrap();
    client.wallet().propose_payment(&lunch()).await.unwrap();
    let bodies: Vec<_> = platform.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(
        bodies,
        [
            json!({ "entries": [
                { "principal": { "app": "notes" }, "access": "read" },
                { "principal": { "account": "ben" }, "access": "read" },
            ] }),
            json!({ "to": "ben", "role": "editor" }),
            json!({ "to": "ben", "amount": { "currency": "CREDIT", "value": "250" }, "idempotencyKey": "lunch" }),
        ]
    );
}

/// How often a call is sent to a platform that cannot be reached.
macro_rules! attempts {
    ($($name:ident: $times:literal, $call:expr;)+) => { $(
        #[tokio::test]
        async fn $name() {
            let call: fn(PlatformServicesClient) -> _ = $call;
            let platform = Platform::start(|_| Reply::Close).await;
            assert_eq!(call(platform.client()).await.unwrap_err().code(), "network_failed");
            assert_eq!(platform.seen().len(), $times);
        }
    )+ };
}

attempts! {
    a_proposal_is_repeated_under_its_key: 3, |client| async move {
        client.wallet().propose_payment(&lunch()).await.map(|_| ())
    };
    a_proposed_policy_as_well: 3, |client| async move {
        let policy = ProposePolicy::new("Friends", "CREDIT", "500", vec!["ben".into()], "friends");
        client.wallet().propose_policy(&policy).await.map(|_| ())
    };
    reading_is_repeated: 3, |client| async move { client.content().get("col-1", "milk").await.map(|_| ()) };
    changes_are_asked_for_again: 3, |client| async move {
        client.content().changes("col-1", PageOptions::default()).await.map(|_| ())
    };
    a_new_collection_is_sent_once: 1, |client| async move {
        client.content().create(&CreateCollection::new("list", "N")).await.map(|_| ())
    };
    an_item_is_sent_once: 1, |client| async move {
        client.content().put("col-1", "milk", "x", Condition::Missing).await.map(|_| ())
    };
    a_file_is_sent_once: 1, |client| async move {
        client.files().put("a", "text/plain", "x", Condition::None).await.map(|_| ())
    };
    an_invitation_is_sent_once: 1, |client| async move {
        let invited = InviteMember { to: "ben".into(), role: GivenRole::Viewer };
        client.content().invite("col-1", &invited).await.map(|_| ())
    };
}

#[tokio::test]
async fn ids_that_an_address_would_swallow_are_not_sent() {
    let platform = answering().await;
    let client = platform.client();
    for id in ["", ".", "..", "a/b"] {
        let outcomes = [
            client.content().delete(id).await.err(),
            client.content().remove("col-1", id, Condition::None).await.err(),
            client.content().remove_member("col-1", id).await.err(),
            client.files().remove(id, Condition::None).await.err(),
            client.wallet().proposal(id).await.err(),
        ];
        for outcome in outcomes {
            assert_eq!(outcome.unwrap().code(), "invalid_request", "{id}");
        }
    }
    assert_eq!(platform.seen().len(), 0);
}
