//! What this crate promises, against a running platform: each case prints its name when it held. The installation needs
//! the grants `notifications.publish` and `notifications.read` on `suite.*`, `search.index` on `self`,
//! `apps.catalog.read` on itself and `launcher`, `messaging.read`, `messaging.send` and `messaging.resolve`,
//! `wallet.payment.propose` and `wallet.policy.propose`, and `content.collections.manage` on `list:*`, and no others. Beside it there is an account `suite-friend`, and no messaging bridge.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use platform_services::reqwest::Method;
use platform_services::{
    ConversationState, Error, Failure, Flow, MessagingSync, NotificationChange, NotificationFilter, NotificationStream,
    PageOptions, PlatformServicesClient, PublishNotification, RetryPolicy, SearchEntry, WorkLeaseOptions,
    WorkflowDefinition, WorkflowEventKind, WorkflowFilter, WorkflowOptions, WorkflowStatus,
};
use serde_json::{Value, json};
use shared_data::{
    a_collection_is_made_changed_and_deleted, a_file_is_written_opened_and_deleted,
    a_payment_is_proposed_once_and_waits, an_item_is_written_on_condition_and_is_a_change,
};
use tokio::sync::Notify;

type Outcome = Result<(), Failure>;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    match run().await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure:?}");
            std::process::ExitCode::FAILURE
        }
    }
}

macro_rules! cases {
    ($platform:expr, $($case:ident),+ $(,)?) => {
        $(
            $case($platform).await.map_err(|failure| Failure::new(format!("{}: {failure:?}", stringify!($case))))?;
            println!("{}", stringify!($case));
        )+
    };
}

async fn run() -> Outcome {
    let platform = PlatformServicesClient::from_env()?;
    cases!(
        &platform,
        a_published_notification_is_the_newest_of_its_topic,
        a_known_dedupe_key_gives_the_stored_record,
        reading_marks_records,
        pages_lead_through_every_record_once,
        refusals_have_a_code_to_decide_by,
        the_stream_tells_in_order_and_goes_on_where_it_is_told,
        search_entries_are_kept_changed_and_removed,
        apps_are_listed_as_granted,
        other_services_are_refused_without_a_grant,
        a_work_lease_is_renewed_and_released,
        a_workflow_runs_once_and_gives_its_result_ever_after,
        a_dropped_execution_goes_on_and_completed_steps_are_not_executed_again,
        activities_run_side_by_side,
        two_executions_share_the_steps_of_a_run,
        what_the_function_fails_with_ends_the_run,
        an_executor_is_tried_again_as_its_policy_says,
        a_mistake_of_the_replay_names_the_step_and_leaves_the_run,
        a_result_that_is_too_large_fails_the_activity,
        what_an_activity_gives_is_what_later_executions_see,
        a_cancelled_run_is_not_executed,
        what_is_still_running_is_resumed,
        an_address_in_any_form_names_one_person,
        a_message_is_sent_once_and_is_news,
        a_payment_is_proposed_once_and_waits,
        a_collection_is_made_changed_and_deleted,
        an_item_is_written_on_condition_and_is_a_change,
        a_file_is_written_opened_and_deleted,
    );
    Ok(())
}

/// Fails with both values unless they are equal.
macro_rules! equal {
    ($actual:expr, $expected:expr) => {
        let (actual, expected) = (&$actual, &$expected);
        if actual != expected {
            let text = format!("line {}: {actual:?} instead of {expected:?}", line!());
            return Err(platform_services::Failure::new(text).into());
        }
    };
}

#[path = "conformance/shared_data.rs"]
mod shared_data;

/// The code of the error, or `"success"`.
fn code<T>(outcome: Result<T, Error>) -> String {
    outcome
        .err()
        .map_or("success".to_owned(), |error| error.code().to_owned())
}

fn titled(topic: &str, title: &str) -> PublishNotification {
    PublishNotification::new(topic, title)
}

fn of_topic(topic: &str) -> NotificationFilter {
    NotificationFilter {
        topic: Some(topic.to_owned()),
        ..NotificationFilter::default()
    }
}

async fn a_published_notification_is_the_newest_of_its_topic(platform: &PlatformServicesClient) -> Outcome {
    let notifications = platform.notifications();
    notifications.publish(&titled("suite.list", "First")).await?;
    let second = PublishNotification {
        body: Some("Zwei".into()),
        ..titled("suite.list", "Second")
    };
    let stored = notifications.publish(&second).await?;
    equal!((stored.title.as_str(), stored.body.as_str()), ("Second", "Zwei"));
    let page = notifications.list_with(of_topic("suite.list")).await?;
    equal!(page.items.first(), Some(&stored));
    equal!((page.items.len(), page.next_cursor), (2, None));
    Ok(())
}

async fn a_known_dedupe_key_gives_the_stored_record(platform: &PlatformServicesClient) -> Outcome {
    let keyed = |title| PublishNotification {
        dedupe_key: Some("key-1".into()),
        ..titled("suite.once", title)
    };
    let first = platform.notifications().publish(&keyed("Once")).await?;
    equal!(platform.notifications().publish(&keyed("Twice")).await?, first);
    Ok(())
}

async fn reading_marks_records(platform: &PlatformServicesClient) -> Outcome {
    let notifications = platform.notifications();
    let one = notifications.publish(&titled("suite.read", "One")).await?;
    notifications.publish(&titled("suite.read", "Two")).await?;
    equal!(notifications.read(&one.id).await?.read_at.is_some(), true);
    let unread = NotificationFilter {
        unread_only: true,
        ..of_topic("suite.read")
    };
    let titles: Vec<String> = notifications
        .list_with(unread)
        .await?
        .items
        .into_iter()
        .map(|item| item.title)
        .collect();
    equal!(titles, ["Two"]);
    equal!(notifications.read_all().await? > 0, true);
    equal!(notifications.read_all().await?, 0);
    equal!(
        code(notifications.read("ntf-00000000-0000-7000-8000-000000000000").await),
        "not_found"
    );
    Ok(())
}

async fn pages_lead_through_every_record_once(platform: &PlatformServicesClient) -> Outcome {
    for title in ["a", "b", "c"] {
        platform.notifications().publish(&titled("suite.pages", title)).await?;
    }
    let mut titles = Vec::new();
    let mut cursor = None;
    loop {
        let page = PageOptions { limit: Some(2), cursor };
        let page = platform
            .notifications()
            .list_with(NotificationFilter {
                page,
                ..of_topic("suite.pages")
            })
            .await?;
        titles.extend(page.items.into_iter().map(|item| item.title));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    equal!(titles, ["c", "b", "a"]);
    Ok(())
}

async fn refusals_have_a_code_to_decide_by(platform: &PlatformServicesClient) -> Outcome {
    let elsewhere = platform.notifications().publish(&titled("elsewhere", "No")).await;
    let Err(Error::Refused(refusal)) = elsewhere else {
        return Err(Failure::new("It was published."));
    };
    equal!(
        (refusal.code.as_str(), refusal.status, refusal.request_id.is_some()),
        ("grant_missing", 403, true)
    );
    let wrong = platform.notifications().publish(&titled("suite.wrong", "")).await;
    let Err(Error::Refused(refusal)) = wrong else {
        return Err(Failure::new("It was published."));
    };
    equal!(refusal.code.as_str(), "invalid_request");
    equal!(
        refusal
            .errors
            .iter()
            .map(|error| error.path.as_str())
            .collect::<Vec<_>>(),
        ["title"]
    );
    Ok(())
}

async fn the_stream_tells_in_order_and_goes_on_where_it_is_told(platform: &PlatformServicesClient) -> Outcome {
    let mut events = platform.notifications().stream(None);
    // When the stream begins cannot be seen from outside; so it is knocked at until it tells of it.
    let knocking = async {
        loop {
            platform.notifications().publish(&titled("suite.live", "Knock")).await?;
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
    };
    let first = tokio::select! {
        event = events.next() => event.ok_or(Failure::new("The stream ended."))??,
        failed = knocking => return failed,
    };
    for title in ["A", "B"] {
        platform.notifications().publish(&titled("suite.live", title)).await?;
    }
    equal!(titles_until(&mut events, "B").await?, ["A", "B"]);
    let mut again = platform.notifications().stream(first.id);
    equal!(titles_until(&mut again, "B").await?, ["A", "B"]);
    Ok(())
}

async fn titles_until(events: &mut NotificationStream, last: &str) -> Result<Vec<String>, Failure> {
    let mut titles = Vec::new();
    while titles.last().is_none_or(|title| title != last) {
        let event = events.next().await.ok_or(Failure::new("The stream ended."))??;
        if let NotificationChange::Published(notification) = event.change {
            titles.push(notification.title);
        }
        titles.retain(|title| title != "Knock");
    }
    Ok(titles)
}

async fn search_entries_are_kept_changed_and_removed(platform: &PlatformServicesClient) -> Outcome {
    let search = platform.search();
    equal!(search.replace([SearchEntry::new("a", "Aardvark", "/a")]).await?, 1);
    let badger = SearchEntry {
        kind: Some("animal".into()),
        ..SearchEntry::new("b", "Badger", "?b=1")
    };
    equal!(
        search
            .upsert([badger, SearchEntry::new("c d", "Cormorant", "/c")])
            .await?,
        2
    );
    search.remove("c d").await?;
    equal!(code(search.remove("..").await), "invalid_request");
    Ok(())
}

async fn apps_are_listed_as_granted(platform: &PlatformServicesClient) -> Outcome {
    let apps = platform.list_apps().await?.items;
    let installed: Vec<&str> = apps
        .iter()
        .filter(|app| app.installed)
        .map(|app| app.app_id.as_str())
        .collect();
    equal!(installed, ["launcher", "rust-suite"]);
    Ok(())
}

async fn other_services_are_refused_without_a_grant(platform: &PlatformServicesClient) -> Outcome {
    equal!(code(platform.system().await), "grant_missing");
    let asked = platform
        .intelligence_request(Method::POST, "openai", "chat/completions")
        .json(&json!({ "model": "m" }));
    equal!(matches!(asked.send().await, Err(Error::Refused(_))), true);
    let asked = platform.outbound_request(Method::GET, "nowhere", "x").send().await;
    equal!(matches!(asked, Err(Error::Refused(_))), true);
    equal!(
        code(
            platform
                .outbound_request(Method::GET, "nowhere", "../other/x")
                .send()
                .await
        ),
        "invalid_request"
    );
    Ok(())
}

async fn a_work_lease_is_renewed_and_released(platform: &PlatformServicesClient) -> Outcome {
    let options = WorkLeaseOptions {
        reason: Some("Tests".into()),
        ..WorkLeaseOptions::default()
    };
    let lease = platform.acquire_work_lease(options.clone()).await?;
    lease.renew().await?;
    let expires = platform
        .renew_work_lease(lease.id(), Some(Duration::from_secs(300)))
        .await?;
    equal!(expires > lease.expires_at(), true);
    let id = lease.id().to_owned();
    lease.release().await?;
    equal!(code(platform.renew_work_lease(&id, None).await), "not_found");
    equal!(code(platform.release_work_lease(&id).await), "not_found");
    let short = WorkLeaseOptions {
        duration: Duration::from_secs(1),
        ..options
    };
    equal!(code(platform.acquire_work_lease(short).await), "invalid_request");
    Ok(())
}

fn options<I>(key: &str, input: I) -> WorkflowOptions<I> {
    let duration = Duration::from_secs(3_600);
    WorkflowOptions {
        definition: "suite".into(),
        version: 1,
        input,
        idempotency_key: key.into(),
        duration,
    }
}

async fn never(_flow: Flow, _input: Value) -> Result<Value, Failure> {
    Err(Failure::new("A run that ended was executed."))
}

/// Counts the effects that executors had, as something outside would.
#[derive(Clone, Default)]
struct Effects(Arc<AtomicUsize>);

impl Effects {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

async fn order(flow: &Flow, cents: u64, effects: &Effects) -> Result<Value, Error> {
    let seat: u64 = flow
        .activity("reserve", "reserve", cents, async |_cents, _context| {
            effects.add();
            Ok::<_, Failure>(7)
        })
        .await?;
    let receipt: String = flow
        .activity("pay", "charge", (cents, seat), async |(_cents, seat), context| {
            effects.add();
            Ok::<_, Failure>(format!("r-{seat}-{}", context.attempt))
        })
        .await?;
    Ok(json!({ "seat": seat, "receipt": receipt }))
}

async fn a_workflow_runs_once_and_gives_its_result_ever_after(platform: &PlatformServicesClient) -> Outcome {
    let effects = Effects::default();
    let run = async |flow: Flow, cents: u64| order(&flow, cents, &effects).await;
    let result = platform.run_workflow(options("once", 5), run).await?;
    equal!(result, json!({ "seat": 7, "receipt": "r-7-1" }));
    equal!(effects.count(), 2);
    equal!(platform.run_workflow(options("once", json!(5)), never).await?, result);
    equal!(
        code(platform.run_workflow(options("once", json!(6)), never).await),
        "workflow_conflict"
    );
    let completed = WorkflowFilter {
        status: Some(WorkflowStatus::Completed),
        ..WorkflowFilter::default()
    };
    let runs = platform.workflows().list_with(completed).await?.items;
    let Some(run) = runs.iter().find(|run| run.idempotency_key == "once") else {
        return Err(Failure::new("The run is not listed."));
    };
    equal!(platform.workflows().get(&run.id).await?.result, result);
    let history = platform.workflows().history(&run.id).await?.items;
    use WorkflowEventKind::{ActivityClaimed, ActivityCompleted, Completed, Created};
    let kinds: Vec<_> = history.into_iter().map(|event| event.event).collect();
    let (claimed, done) = (ActivityClaimed, ActivityCompleted);
    equal!(
        kinds,
        [Created, claimed.clone(), done.clone(), claimed, done, Completed]
    );
    Ok(())
}

async fn a_dropped_execution_goes_on_and_completed_steps_are_not_executed_again(
    platform: &PlatformServicesClient,
) -> Outcome {
    let effects = Effects::default();
    let reached = Notify::new();
    let stopping = async |flow: Flow, cents: u64| {
        order(&flow, cents, &effects).await?;
        flow.activity("wait", "wait", (), async |(), _context| {
            reached.notify_one();
            std::future::pending::<Result<(), Failure>>().await
        })
        .await?;
        Ok::<_, Error>(Value::Null)
    };
    tokio::select! {
        ended = platform.run_workflow(options("dropped", 5), stopping) => return Err(Failure::new(format!("{ended:?}"))),
        () = reached.notified() => {}
    }
    // The step that was being executed is given back in the background; until then it is waited for.
    let ending = async |flow: Flow, cents: u64| {
        let result = order(&flow, cents, &effects).await?;
        let attempt: u64 = flow
            .activity("wait", "wait", (), async |(), context| {
                Ok::<_, Failure>(context.attempt)
            })
            .await?;
        Ok::<_, Error>((result, attempt))
    };
    let (result, attempt) = platform.run_workflow(options("dropped", 5), ending).await?;
    equal!(result, json!({ "seat": 7, "receipt": "r-7-1" }));
    equal!((attempt, effects.count()), (2, 2));
    Ok(())
}

async fn activities_run_side_by_side(platform: &PlatformServicesClient) -> Outcome {
    let meeting = tokio::sync::Barrier::new(3);
    let run = async |flow: Flow, _input: ()| {
        let one = |step: &'static str| {
            let (flow, meeting) = (flow.clone(), &meeting);
            async move {
                let meet = async |step: &'static str, _context| {
                    meeting.wait().await;
                    Ok::<_, Failure>(step.to_uppercase())
                };
                flow.activity::<_, String, _, _, _>(step, "meet", step, meet).await
            }
        };
        let (a, b, c) = tokio::try_join!(one("a"), one("b"), one("c"))?;
        Ok::<_, Error>(a + &b + &c)
    };
    equal!(platform.run_workflow(options("parallel", ()), run).await?, "ABC");
    Ok(())
}

async fn two_executions_share_the_steps_of_a_run(platform: &PlatformServicesClient) -> Outcome {
    let effects = Effects::default();
    let run = || async |flow: Flow, cents: u64| order(&flow, cents, &effects).await;
    let one = platform.run_workflow(options("shared", 1), run());
    let (one, other) = tokio::try_join!(one, platform.run_workflow(options("shared", 1), run()))?;
    equal!(one, other);
    equal!(effects.count(), 2);
    Ok(())
}

async fn what_the_function_fails_with_ends_the_run(platform: &PlatformServicesClient) -> Outcome {
    let run = async |flow: Flow, _input: Value| -> Result<Value, Failure> {
        let declined = async |(), _context| Err::<Value, _>(Failure::coded("declined", "The card was declined."));
        Ok(flow.activity("pay", "charge", (), declined).await?)
    };
    equal!(
        code(platform.run_workflow(options("failing", Value::Null), run).await),
        "declined"
    );
    let again = platform.run_workflow(options("failing", Value::Null), never).await;
    let Err(Error::WorkflowFailed(error)) = again else {
        return Err(Failure::new(format!("{again:?}")));
    };
    equal!(
        (error.code.as_deref(), error.message.as_str()),
        (Some("declined"), "The card was declined.")
    );
    Ok(())
}

async fn an_executor_is_tried_again_as_its_policy_says(platform: &PlatformServicesClient) -> Outcome {
    let effects = Effects::default();
    let retry = |non_retryable: &[&str]| RetryPolicy {
        attempts: 3,
        backoff: Duration::from_millis(1),
        non_retryable: non_retryable.iter().map(|code| (*code).to_owned()).collect(),
        ..RetryPolicy::default()
    };
    let flaky = async |(), context: platform_services::ActivityContext| {
        effects.add();
        if context.attempt < 3 {
            Err(Failure::coded("busy", "Busy."))
        } else {
            Ok(context.attempt)
        }
    };
    let patient =
        async |flow: Flow, _input: ()| flow.activity_with_retry("flaky", "flaky", (), retry(&[]), flaky).await;
    equal!(platform.run_workflow(options("retried", ()), patient).await?, 3);
    let strict = async |flow: Flow, _input: ()| {
        flow.activity_with_retry("flaky", "flaky", (), retry(&["busy"]), flaky)
            .await
    };
    equal!(
        code(platform.run_workflow(options("not-retried", ()), strict).await),
        "busy"
    );
    equal!(effects.count(), 4);
    Ok(())
}

async fn a_mistake_of_the_replay_names_the_step_and_leaves_the_run(platform: &PlatformServicesClient) -> Outcome {
    let paid = Notify::new();
    let first = async |flow: Flow, _input: ()| {
        flow.activity("pay", "charge", 1, async |input, _context| Ok::<i32, Failure>(input))
            .await?;
        paid.notify_one();
        std::future::pending::<Result<i32, Error>>().await
    };
    tokio::select! {
        ended = platform.run_workflow(options("replayed", ()), first) => return Err(Failure::new(format!("{ended:?}"))),
        () = paid.notified() => {}
    }
    let pay = |input: i32| {
        async move |flow: Flow, _input: ()| {
            flow.activity("pay", "charge", input, async |input, _context| {
                Ok::<i32, Failure>(input)
            })
            .await
        }
    };
    let changed = platform.run_workflow(options("replayed", ()), pay(2)).await;
    let Err(error @ Error::Interrupted(_)) = changed else {
        return Err(Failure::new(format!("{changed:?}")));
    };
    equal!(
        (error.code(), error.to_string().starts_with("Step \"pay\"")),
        ("activity_conflict", true)
    );
    equal!(platform.run_workflow(options("replayed", ()), pay(1)).await?, 1);
    Ok(())
}

async fn a_result_that_is_too_large_fails_the_activity(platform: &PlatformServicesClient) -> Outcome {
    let run = async |flow: Flow, _input: Value| {
        flow.activity("big", "big", (), async |(), _context| {
            Ok::<_, Failure>("x".repeat(32_768))
        })
        .await
    };
    let large = platform.run_workflow(options("large", Value::Null), run).await;
    equal!(code(large), "workflow_result_too_large");
    equal!(
        code(platform.run_workflow(options("large", Value::Null), never).await),
        "workflow_failed"
    );
    Ok(())
}

async fn what_an_activity_gives_is_what_later_executions_see(platform: &PlatformServicesClient) -> Outcome {
    let given =
        json!({ "b": [1.0, -0.0, 2.5, 1e-7, "é😀"], "a": null, "__proto__": { "x": 9_007_199_254_740_991_u64 } });
    let seen = std::sync::Mutex::new(Vec::new());
    let given_once = Notify::new();
    let run = async |flow: Flow, input: Value| {
        let value: Value = flow
            .activity("values", "values", given.clone(), async |value, _context| {
                Ok::<Value, Failure>(value)
            })
            .await?;
        if let Ok(mut seen) = seen.lock() {
            seen.push(json!([input, value]).to_string());
        }
        given_once.notify_one();
        std::future::pending::<Result<Value, Error>>().await
    };
    for _ in 0..2 {
        tokio::select! {
            ended = platform.run_workflow(options("values", given.clone()), run) => {
                return Err(Failure::new(format!("{ended:?}")));
            }
            () = given_once.notified() => {}
        }
    }
    let seen = seen.into_inner()?;
    equal!(seen.len(), 2);
    equal!(seen[0], seen[1]);
    Ok(())
}

async fn a_cancelled_run_is_not_executed(platform: &PlatformServicesClient) -> Outcome {
    let run = async |flow: Flow, _input: Value| {
        let cancel = async |(), _context| platform.workflows().cancel(flow.id()).await;
        flow.activity("cancel", "cancel", (), cancel).await?;
        Ok::<_, Error>(Value::Null)
    };
    let cancelled = platform.run_workflow(options("cancelled", Value::Null), run).await;
    equal!(code(cancelled), "workflow_not_running");
    equal!(
        code(platform.run_workflow(options("cancelled", Value::Null), never).await),
        "workflow_not_running"
    );
    Ok(())
}

async fn what_is_still_running_is_resumed(platform: &PlatformServicesClient) -> Outcome {
    let named = |key: &str| WorkflowOptions {
        definition: "resumed".into(),
        ..options(key, key.to_owned())
    };
    for key in ["a", "b"] {
        let done = Notify::new();
        let run = async |flow: Flow, name: String| {
            flow.activity("only", "only", name, async |name, _context| Ok::<String, Failure>(name))
                .await?;
            done.notify_one();
            std::future::pending::<Result<String, Error>>().await
        };
        tokio::select! {
            ended = platform.run_workflow(named(key), run) => return Err(Failure::new(format!("{ended:?}"))),
            () = done.notified() => {}
        }
    }
    async fn run(flow: Flow, name: String) -> Result<String, Failure> {
        let unexpected = async |_name, _context| Err::<String, _>(Failure::new("It was completed."));
        let name = flow.activity("only", "only", name, unexpected).await?;
        if name == "b" {
            Err(Failure::coded("unlucky", "b fails"))
        } else {
            Ok(name)
        }
    }
    let other_version = platform
        .resume_workflows(&[WorkflowDefinition::new("resumed", 2, run)])
        .await?;
    equal!(other_version.len(), 0);
    let mut resumed = platform
        .resume_workflows(&[WorkflowDefinition::new("resumed", 1, run)])
        .await?;
    resumed.sort_by(|one, other| one.idempotency_key.cmp(&other.idempotency_key));
    let outcomes: Vec<_> = resumed
        .into_iter()
        .map(|run| run.outcome.map_err(|error| error.code().to_owned()))
        .collect();
    equal!(outcomes, [Ok(json!("a")), Err("unlucky".to_owned())]);
    Ok(())
}

const FRIEND: &str = "suite-friend";

async fn an_address_in_any_form_names_one_person(platform: &PlatformServicesClient) -> Outcome {
    let messaging = platform.messaging();
    let friend = messaging.resolve(FRIEND).await?;
    equal!(friend.external, false);
    for form in [
        format!(" {} ", FRIEND.to_uppercase()),
        friend.address.clone(),
        friend.transport_user_id.clone(),
    ] {
        equal!(messaging.resolve(&form).await?, friend);
    }
    for nobody in ["nobody-there", "a b", "\u{202e}suite-friend", "@grace:example.org"] {
        equal!(code(messaging.resolve(nobody).await), "not_found");
        equal!(code(messaging.direct(nobody).await), "not_found");
    }
    equal!(code(messaging.resolve("../identity").await), "invalid_request");
    Ok(())
}

async fn a_message_is_sent_once_and_is_news(platform: &PlatformServicesClient) -> Outcome {
    let messaging = platform.messaging();
    let conversation = messaging.direct(FRIEND).await?;
    equal!(conversation.state, ConversationState::Requested);
    equal!(messaging.direct(FRIEND).await?.id, conversation.id);
    let begun = messaging.sync(&MessagingSync::default()).await?;
    let sent = messaging.send(&conversation.id, "once", "Hello").await?;
    equal!(messaging.send(&conversation.id, "once", "Hello").await?, sent);
    equal!(
        code(messaging.send(&conversation.id, "once", "Another").await),
        "conversation_conflict"
    );
    let after = MessagingSync {
        cursor: Some(begun.cursor),
        timeout_ms: Some(20_000),
        ..MessagingSync::default()
    };
    equal!(messaging.sync(&after).await?.messages, vec![sent.clone()]);
    equal!(messaging.read(&conversation.id, sent.id).await?.unread, 0);
    equal!(messaging.leave(&conversation.id).await?.state, ConversationState::Left);
    equal!(
        code(messaging.send(&conversation.id, "late", "Too late").await),
        "conversation_conflict"
    );
    Ok(())
}
