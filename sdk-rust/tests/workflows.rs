//! Leases, waits and refusals of workflows, against a fake platform and a clock that stands still.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use platform_services::{
    Error, Failure, Flow, PlatformServicesClient, Result, RetryPolicy, WorkflowDefinition, WorkflowOptions,
};
use serde_json::{Value, json};
use support::{HeldClock, Platform, Reply, activity, claimed, completed, lease, run, settled};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::advance;

const CREATE: &str = "POST /v1/services/workflows";
const READ: &str = "GET /v1/services/workflows/wf-1";
const CLAIM: &str = "POST /v1/services/workflows/wf-1/activities/s/claim";
const RENEW: &str = "POST /v1/services/workflows/wf-1/activities/act-1/renew";
const SETTLE: &str = "POST /v1/services/workflows/wf-1/activities/act-1/complete";
const END: &str = "POST /v1/services/workflows/wf-1/complete";
const LEASES: &str = "POST /v1/services/runtime/work-leases";
const RELEASE: &str = "DELETE /v1/services/runtime/work-leases/lease-1";

/// A platform with one run of one step `s`; `other` decides where it returns something.
async fn platform(other: impl Fn(&str, usize) -> Option<Reply> + Send + Sync + 'static) -> Platform {
    let lines = std::sync::Mutex::new(std::collections::HashMap::<String, usize>::new());
    Platform::start(move |seen| {
        let number = {
            let mut lines = lines.lock().unwrap();
            let number = lines.entry(seen.line.clone()).or_default();
            *number += 1;
            *number
        };
        if let Some(reply) = other(&seen.line, number) {
            return reply;
        }
        match seen.line.as_str() {
            CREATE => Reply::Json(201, run("running", Value::Null)),
            CLAIM => Reply::Json(200, claimed(number as u64)),
            RENEW | SETTLE => Reply::Json(200, activity()),
            END | READ => Reply::Json(200, run("completed", json!("kept"))),
            LEASES => Reply::Json(201, lease()),
            _ => Reply::Json(204, Value::Null),
        }
    })
    .await
}

fn options<I>(input: I) -> WorkflowOptions<I> {
    let duration = Duration::from_secs(3_600);
    WorkflowOptions {
        definition: "d".into(),
        version: 1,
        input,
        idempotency_key: "k".into(),
        duration,
    }
}

/// What the test lets an executor do, and is told of it.
#[derive(Default)]
struct Gate {
    entered: Notify,
    leave: Notify,
    cancelled: Notify,
}

/// Runs a workflow whose only step waits at the gate, and says when it is cancelled.
fn gated(client: &PlatformServicesClient, gate: &Arc<Gate>) -> JoinHandle<Result<String>> {
    let (client, gate) = (client.clone(), Arc::clone(gate));
    tokio::spawn(async move {
        let step = async |flow: Flow, input: u32| {
            let wait = async |input, context: platform_services::ActivityContext| {
                gate.entered.notify_one();
                tokio::select! {
                    () = gate.leave.notified() => {}
                    _ = context.cancelled() => {
                        gate.cancelled.notify_one();
                        gate.leave.notified().await;
                    }
                }
                Ok::<String, Failure>(format!("{input} in attempt {}", context.attempt))
            };
            flow.activity("s", "n", input, wait).await
        };
        client.run_workflow(options(7), step).await
    })
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_every_twenty_seconds_until_the_step_is_completed() {
    let _clock = HeldClock::hold();
    let platform = platform(|_, _| None).await;
    let gate = Arc::new(Gate::default());
    let running = gated(&platform.client(), &gate);
    gate.entered.notified().await;
    for renewals in 1..=5 {
        advance(Duration::from_secs(19)).await;
        assert_eq!(platform.count(RENEW), renewals - 1);
        advance(Duration::from_secs(1)).await;
        platform.until(RENEW, renewals).await;
        // Until its answer is there, and the next renewal planned.
        settled().await;
    }
    gate.leave.notify_one();
    assert_eq!(running.await.unwrap().unwrap(), "7 in attempt 1");
    advance(Duration::from_secs(100)).await;
    settled().await;
    assert_eq!(platform.count(RENEW), 5);
    let seen = platform.seen();
    let settle = seen.iter().find(|seen| seen.is(SETTLE)).unwrap();
    assert_eq!(
        settle.body,
        json!({ "leaseToken": "token-1", "result": "7 in attempt 1" })
    );
    let end = seen.iter().find(|seen| seen.is(END)).unwrap();
    assert_eq!(end.body, json!({ "status": "completed", "result": "7 in attempt 1" }));
    assert!(
        seen.iter()
            .filter(|seen| seen.is(RENEW))
            .all(|seen| seen.body == json!({ "leaseToken": "token-1" }))
    );
}

#[tokio::test(start_paused = true)]
async fn a_fenced_executor_hears_of_it_and_gets_the_result_of_the_other() {
    let _clock = HeldClock::hold();
    let platform = platform(|line, number| match (line, number) {
        (CLAIM, 2) => Some(Reply::Json(200, completed(json!("the other's")))),
        (RENEW | SETTLE, _) => Some(Reply::Problem(409, "lease_lost")),
        _ => None,
    })
    .await;
    let gate = Arc::new(Gate::default());
    let running = gated(&platform.client(), &gate);
    gate.entered.notified().await;
    advance(Duration::from_secs(20)).await;
    gate.cancelled.notified().await;
    gate.leave.notify_one();
    assert_eq!(running.await.unwrap().unwrap(), "the other's");
    assert_eq!((platform.count(SETTLE), platform.count(CLAIM)), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_cannot_be_renewed_is_lost_after_a_minute_but_its_result_still_counts() {
    let _clock = HeldClock::hold();
    let platform = platform(|line, _| (line == RENEW).then_some(Reply::Problem(503, "unavailable"))).await;
    let gate = Arc::new(Gate::default());
    let running = gated(&platform.client(), &gate);
    gate.entered.notified().await;
    let (mut seconds, mut lost) = (0, Box::pin(gate.cancelled.notified()));
    loop {
        tokio::select! {
            biased;
            () = &mut lost => break,
            () = settled() => {}
        }
        advance(Duration::from_secs(2)).await;
        seconds += 2;
        assert!(seconds < 120, "the executor was never told");
    }
    assert!(seconds >= 60, "lost after {seconds} s");
    assert!(platform.count(RENEW) > 5, "it is tried again every two seconds");
    gate.leave.notify_one();
    assert_eq!(running.await.unwrap().unwrap(), "7 in attempt 1");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_was_cancelled_ends_its_execution() {
    let _clock = HeldClock::hold();
    let platform = platform(|line, _| match line {
        RENEW | SETTLE => Some(Reply::Problem(409, "workflow_not_running")),
        READ => Some(Reply::Json(200, run("cancelled", Value::Null))),
        _ => None,
    })
    .await;
    let gate = Arc::new(Gate::default());
    let running = gated(&platform.client(), &gate);
    gate.entered.notified().await;
    advance(Duration::from_secs(20)).await;
    gate.cancelled.notified().await;
    gate.leave.notify_one();
    let ended = running.await.unwrap();
    assert!(
        matches!(&ended, Err(Error::WorkflowNotRunning(why)) if why.contains("cancelled")),
        "{ended:?}"
    );
    assert_eq!(platform.count(END), 0);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_another_process_has_is_waited_for() {
    let _clock = HeldClock::hold();
    let platform = platform(|line, number| match (line, number) {
        (CLAIM, 1..=8) => Some(Reply::Later(409, "activity_leased", 60)),
        (CLAIM, _) => Some(Reply::Json(200, completed(json!("the other's")))),
        _ => None,
    })
    .await;
    let running = gated(&platform.client(), &Arc::default());
    let mut waited = Duration::ZERO;
    while !running.is_finished() {
        advance(Duration::from_millis(50)).await;
        waited += Duration::from_millis(50);
        settled().await;
    }
    assert_eq!(running.await.unwrap().unwrap(), "the other's");
    assert_eq!(platform.count(CLAIM), 9);
    // 0.25, 0.5, 1, 2, 4, 5, 5 and 5 seconds, each between half and one and a half of it.
    assert!((11_000..=36_000).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn what_executes_a_run_outlasts_two_minutes_of_a_platform_that_restarts() {
    let _clock = HeldClock::hold();
    let down = |number: usize, times: usize| (number <= times).then_some(Reply::Problem(503, "unavailable"));
    let platform = platform(move |line, number| match line {
        CREATE => down(number, 5),
        CLAIM => (number <= 3).then_some(Reply::Close),
        SETTLE => down(number, 4),
        END => (number <= 2).then_some(Reply::Later(429, "rate_limited", 3)),
        _ => None,
    })
    .await;
    let gate = Arc::new(Gate::default());
    gate.leave.notify_one();
    let running = gated(&platform.client(), &gate);
    while !running.is_finished() {
        advance(Duration::from_millis(100)).await;
        settled().await;
    }
    assert_eq!(running.await.unwrap().unwrap(), "7 in attempt 4");
    let counts = [CREATE, CLAIM, SETTLE, END].map(|line| platform.count(line));
    assert_eq!(counts, [6, 4, 5, 3]);
}

#[tokio::test]
async fn an_execution_that_is_dropped_gives_its_step_back_and_leaves_the_run() {
    let platform = platform(|_, _| None).await;
    let client = platform.client();
    let gate = Arc::new(Gate::default());
    let running = gated(&client, &gate);
    gate.entered.notified().await;
    running.abort();
    client.finish_background_work().await;
    assert_eq!(platform.count(SETTLE), 1);
    let seen = platform.seen();
    let settle = seen.iter().find(|seen| seen.is(SETTLE)).unwrap();
    assert_eq!(settle.body["leaseToken"], "token-1");
    assert_eq!(
        settle.body["error"]["message"],
        "The execution of this step was dropped."
    );
    assert_eq!(platform.count(END), 0);
}

#[tokio::test]
async fn an_executor_that_panics_gives_its_step_back() {
    let platform = platform(|_, _| None).await;
    let client = platform.client();
    let run = tokio::spawn(async move {
        let run = async |flow: Flow, _input: u32| {
            flow.activity("s", "n", (), async |(), _context| -> Result<(), Failure> {
                panic!("in the executor")
            })
            .await
        };
        client.run_workflow(options(7), run).await
    });
    assert!(run.await.unwrap_err().is_panic());
    platform.until(SETTLE, 1).await;
}

#[tokio::test]
async fn a_refused_step_names_itself_and_leaves_the_run_also_behind_an_error_of_the_function() {
    let platform = platform(|line, _| (line == CLAIM).then_some(Reply::Problem(409, "activity_conflict"))).await;

    #[derive(Debug)]
    struct Own(Error);
    impl std::fmt::Display for Own {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("an error of the function")
        }
    }
    impl std::error::Error for Own {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let run = async |flow: Flow, _input: u32| -> Result<(), Own> {
        flow.activity("s", "n", (), async |(), _context| Ok::<(), Failure>(()))
            .await
            .map_err(Own)
    };
    let error = platform.client().run_workflow(options(7), run).await.unwrap_err();
    let Error::Interrupted(interruption) = &error else {
        panic!("{error:?}")
    };
    assert_eq!((interruption.step.as_str(), error.code()), ("s", "activity_conflict"));
    assert_eq!(
        error.to_string(),
        "Step \"s\": Refused with activity_conflict. (activity_conflict)"
    );
    assert_eq!(platform.count(END), 0);
}

#[tokio::test]
async fn what_the_function_makes_of_a_failure_is_kept_in_words_that_the_platform_takes() {
    let platform = platform(|_, _| None).await;
    let run = async |flow: Flow, _input: u32| -> Result<(), Failure> {
        let refuse = async |(), _context| -> Result<(), Failure> {
            Err(Failure::coded(
                "not a code!",
                format!("a\r\nb\u{7}\u{202e}{}", "é".repeat(3_000)),
            ))
        };
        Ok(flow.activity("s", "n", (), refuse).await?)
    };
    let error = platform.client().run_workflow(options(7), run).await.unwrap_err();
    assert_eq!(error.code(), "not a code!");
    for line in [SETTLE, END] {
        let body = &platform.seen().into_iter().find(|seen| seen.is(line)).unwrap().body["error"];
        assert_eq!(body["code"], Value::Null);
        let message = body["message"].as_str().unwrap();
        assert!(message.starts_with("a\nbéé"));
        assert_eq!(message.encode_utf16().count(), 2_000);
    }
}

#[tokio::test]
async fn a_kept_result_of_another_type_is_a_mistake_of_the_program_and_leaves_the_run() {
    let platform = platform(|line, _| (line == CLAIM).then_some(Reply::Json(200, completed(json!("text"))))).await;
    let run = async |flow: Flow, _input: u32| {
        flow.activity("s", "n", (), async |(), _context| Ok::<u32, Failure>(1))
            .await
    };
    let error = platform.client().run_workflow(options(7), run).await.unwrap_err();
    assert_eq!(error.code(), "invalid_answer");
    assert!(
        error
            .to_string()
            .starts_with("Step \"s\": The result that the platform keeps"),
        "{error}"
    );
    assert_eq!(platform.count(END), 0);
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_longer_each_time() {
    let _clock = HeldClock::hold();
    let platform = platform(|_, _| None).await;
    let client = platform.client();
    let attempts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&attempts);
    let running = tokio::spawn(async move {
        let retry = RetryPolicy {
            attempts: 4,
            maximum_backoff: Duration::from_secs(2),
            ..RetryPolicy::default()
        };
        let run = async |flow: Flow, _input: u32| {
            let busy = async |(), _context| {
                counted.fetch_add(1, Ordering::SeqCst);
                Err::<(), _>(Failure::coded("busy", "Busy."))
            };
            flow.activity_with_retry("s", "n", (), retry, busy).await
        };
        client.run_workflow(options(7), run).await
    });
    let mut waited = Duration::ZERO;
    while !running.is_finished() {
        advance(Duration::from_millis(50)).await;
        waited += Duration::from_millis(50);
        settled().await;
    }
    assert_eq!(running.await.unwrap().unwrap_err().code(), "busy");
    assert_eq!(attempts.load(Ordering::SeqCst), 4);
    // 1, 2 and 2 seconds, each between three and five quarters of it.
    assert!((3_500..=7_500).contains(&waited.as_millis()), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_runs_workflows_for_long_stays_awake_by_one_lease() {
    let _clock = HeldClock::hold();
    let platform = platform(|_, _| None).await;
    let client = platform.client();
    let gates: [Arc<Gate>; 2] = Default::default();
    let running: Vec<_> = gates.iter().map(|gate| gated(&client, gate)).collect();
    for gate in &gates {
        gate.entered.notified().await;
    }
    assert_eq!(platform.count(LEASES), 0, "short ones need none");
    settled().await;
    advance(Duration::from_secs(2)).await;
    platform.until(LEASES, 1).await;
    settled().await;
    for gate in &gates {
        gate.leave.notify_one();
    }
    for run in running {
        run.await.unwrap().unwrap();
    }
    settled().await;
    assert_eq!(platform.count(RELEASE), 0, "another one may follow at once");
    advance(Duration::from_secs(2)).await;
    platform.until(RELEASE, 1).await;
    assert_eq!(platform.count(LEASES), 1);
}

#[tokio::test]
async fn resumed_runs_of_a_function_that_panics_do_not_take_the_others_along() {
    let list = "GET /v1/services/workflows?status=running&definition=d";
    let runs = || {
        let one = |key: &str| {
            let mut found = run("running", Value::Null)["run"].clone();
            found["idempotencyKey"] = key.into();
            found["input"] = key.into();
            found
        };
        json!({ "items": (0..40).map(|key| one(&key.to_string())).collect::<Vec<_>>(), "nextCursor": null })
    };
    let platform = platform(move |line, _| {
        line.starts_with("GET /v1/services/workflows?")
            .then(|| Reply::Json(200, runs()))
    })
    .await;
    let run = |_flow: Flow, key: String| async move {
        if key == "3" {
            panic!("in the function")
        } else {
            Ok::<String, Failure>(key)
        }
    };
    let resumed = platform
        .client()
        .resume_workflows(&[WorkflowDefinition::new("d", 1, run)])
        .await
        .unwrap();
    assert_eq!(resumed.len(), 40);
    for run in resumed {
        assert_eq!(run.outcome.is_err(), run.idempotency_key == "3", "{run:?}");
    }
    assert_eq!(
        platform
            .seen()
            .iter()
            .filter(|seen| seen.line.starts_with(&list[..30]))
            .count(),
        1
    );
}
