//! Work leases, and the live stream of notifications, against a fake platform and a clock that stands still.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use platform_services::{NotificationChange, WorkLeaseOptions};
use serde_json::{Value, json};
use support::{HeldClock, Platform, Reply, lease, notification};
use tokio::time::advance;

const RENEW: &str = "POST /v1/services/runtime/work-leases/lease-1/renew";
const RELEASE: &str = "DELETE /v1/services/runtime/work-leases/lease-1";
const STREAM: &str = "GET /v1/services/notifications/stream";

async fn leases(renewal: impl Fn() -> Reply + Send + Sync + 'static) -> Platform {
    Platform::start(move |seen| match seen.line.as_str() {
        RENEW => renewal(),
        RELEASE => Reply::Json(204, Value::Null),
        _ => Reply::Json(201, lease()),
    })
    .await
}

fn renewing() -> WorkLeaseOptions {
    WorkLeaseOptions {
        renew_for: Duration::from_secs(90),
        ..WorkLeaseOptions::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_renews_itself_at_a_third_of_its_duration_as_long_as_it_should_and_then_runs_out() {
    let _clock = HeldClock::hold();
    let platform = leases(|| Reply::Json(200, lease())).await;
    let lease = platform.client().acquire_work_lease(renewing()).await.unwrap();
    for renewals in 1..=4 {
        support::settled().await;
        advance(Duration::from_secs(20)).await;
        platform.until(RENEW, renewals).await;
    }
    support::settled().await;
    assert!(!lease.is_over());
    advance(Duration::from_secs(60)).await;
    assert_eq!(lease.lost().await.code(), "lease_lost");
    assert_eq!((platform.count(RENEW), lease.is_over()), (4, true));
    drop(lease);
    support::settled().await;
    assert_eq!(platform.count(RELEASE), 0, "it is over already");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_the_platform_ended_or_that_cannot_be_renewed_is_lost() {
    let _clock = HeldClock::hold();
    let gone = leases(|| Reply::Problem(404, "not_found")).await;
    let lease = gone.client().acquire_work_lease(renewing()).await.unwrap();
    support::settled().await;
    advance(Duration::from_secs(20)).await;
    assert!(lease.lost().await.to_string().contains("The platform ended it"));

    let down = leases(|| Reply::Problem(503, "unavailable")).await;
    let lease = down.client().acquire_work_lease(renewing()).await.unwrap();
    for _ in 0..60 {
        support::settled().await;
        advance(Duration::from_secs(1)).await;
    }
    assert!(lease.lost().await.to_string().contains("It ran out"));
    assert!(down.count(RENEW) >= 2);
}

#[tokio::test]
async fn a_lease_is_released_once_by_its_release_or_by_its_end() {
    let platform = leases(|| Reply::Json(200, lease())).await;
    let lease = platform
        .client()
        .acquire_work_lease(WorkLeaseOptions::default())
        .await
        .unwrap();
    lease.release().await.unwrap();
    assert_eq!(platform.count(RELEASE), 1);
    drop(
        platform
            .client()
            .acquire_work_lease(WorkLeaseOptions::default())
            .await
            .unwrap(),
    );
    platform.until(RELEASE, 2).await;
}

fn events(pieces: &[(&str, &str)]) -> Reply {
    let event = |(id, title): &(&str, &str)| match *title {
        "" => format!("id: {id}\n\n: nothing else\n\n"),
        title => {
            let data = json!({ "notification": notification(title) });
            format!("event: notification\nid: {id}\ndata: {data}\n\n")
        }
    };
    Reply::Text(200, "text/event-stream", pieces.iter().map(event).collect())
}

#[tokio::test(start_paused = true)]
async fn a_stream_connects_again_where_it_was_until_it_is_refused() {
    let _clock = HeldClock::hold();
    let number = std::sync::atomic::AtomicUsize::new(0);
    let platform = Platform::start(
        move |_| match number.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => events(&[("1", "One"), ("2", "Two")]),
            1 => Reply::Problem(503, "unavailable"),
            2 => Reply::Close,
            3 => events(&[("5", "")]),
            4 => events(&[("6", "Three")]),
            5 => Reply::Text(
                200,
                "text/event-stream",
                "event: new\nid: 7\ndata: {\"a\":1}\n\nevent: notifications-read\ndata: {\"ids\":null}\n\n".into(),
            ),
            _ => Reply::Problem(403, "grant_missing"),
        },
    )
    .await;
    let mut stream = platform.client().notifications().stream(None);
    let reading = tokio::spawn(async move {
        let mut found = Vec::new();
        while let Some(event) = stream.next().await {
            found.push(match event {
                Ok(event) => match event.change {
                    NotificationChange::Published(notification) => notification.title,
                    NotificationChange::Other(name, data) => format!("{name} {data}"),
                    other => format!("{other:?}"),
                },
                Err(error) => error.code().to_owned(),
            });
        }
        found
    });
    while !reading.is_finished() {
        support::settled().await;
        advance(Duration::from_millis(250)).await;
    }
    let found = reading.await.unwrap();
    assert_eq!(
        found,
        ["One", "Two", "Three", "new {\"a\":1}", "Read(None)", "grant_missing"]
    );
    let seen = platform.seen();
    assert!(
        seen.iter()
            .all(|seen| seen.is(STREAM) && seen.headers["accept"] == "text/event-stream")
    );
    let last: Vec<_> = seen
        .iter()
        .map(|seen| seen.headers.get("last-event-id").map(String::as_str))
        .collect();
    assert_eq!(
        last,
        [None, Some("2"), Some("2"), Some("2"), Some("5"), Some("6"), Some("7")]
    );
}
