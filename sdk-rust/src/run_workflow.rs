//! Executes a workflow function: every activity that was completed before gives its result, the others are executed, and
//! the run ends with what the function returns.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::activity::{ActivityContext, Execution, RetryPolicy, Step, run_activity};
use crate::call::Access;
use crate::error::{Error, Interruption, Result};
use crate::failure::Failure;
use crate::keep_awake::Awake;
use crate::patience::{WHILE_THE_PLATFORM_RESTARTS, patiently};
use crate::signal::Signal;
use crate::wire::{CompleteWorkflow, CreateWorkflow, WorkflowError, WorkflowRun, WorkflowStatus};
use crate::workflows::{self, Workflows};

/// Which run.
#[derive(Clone, Debug)]
pub struct WorkflowOptions<I> {
    /// Name of the function, 1 to 128 characters.
    pub definition: String,
    /// A change of the function that a run under way could not follow needs another one.
    pub version: u32,
    /// JSON of at most 32 KiB.
    pub input: I,
    /// The same for every execution of one logical run, for example an order number; 1 to 200 characters.
    pub idempotency_key: String,
    /// After this the run expires: 1 s to 7 days, in whole seconds.
    pub duration: Duration,
}

/// A run that is being executed. Cheap to clone, for activities that run side by side.
#[derive(Clone)]
pub struct Flow {
    execution: Arc<Execution>,
}

impl Flow {
    /// Of the run.
    pub fn id(&self) -> &str {
        &self.execution.run_id
    }

    /// Whether the run was cancelled or has expired, as far as this process has noticed, or its execution has ended.
    pub fn is_cancelled(&self) -> bool {
        self.execution.stopped.reason().is_some()
    }

    /// Executes a step once and keeps its result; in later executions gives the result.
    ///
    /// `step` is its durable name in this run, `[A-Za-z0-9._~-]{1,128}`; `name` says what it does, in 1 to 128 characters;
    /// `input` is JSON of at most 32 KiB. All three are the same in every execution. The executor gets the input and an
    /// [`ActivityContext`], and returns JSON of at most 32 KiB. It runs in the task of its caller; while it runs, another
    /// task renews the lease of the step.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] with what the executor failed with; [`Error::Interrupted`] with what the platform refused, such
    /// as `activity_conflict` when the step had another name or input, and `activity_limit` for the 257th.
    pub async fn activity<I, R, E, F, Fut>(&self, step: &str, name: &str, input: I, executor: F) -> Result<R>
    where
        I: Serialize + Clone,
        R: Serialize + DeserializeOwned,
        E: Into<Failure>,
        F: Fn(I, ActivityContext) -> Fut,
        Fut: Future<Output = Result<R, E>>,
    {
        self.activity_with_retry(step, name, input, RetryPolicy::default(), executor)
            .await
    }

    /// As [`activity`](Self::activity); an executor that fails is tried again as the policy says.
    ///
    /// # Errors
    ///
    /// As [`activity`](Self::activity), once the last attempt failed.
    pub async fn activity_with_retry<I, R, E, F, Fut>(
        &self,
        step: &str,
        name: &str,
        input: I,
        retry: RetryPolicy,
        executor: F,
    ) -> Result<R>
    where
        I: Serialize + Clone,
        R: Serialize + DeserializeOwned,
        E: Into<Failure>,
        F: Fn(I, ActivityContext) -> Fut,
        Fut: Future<Output = Result<R, E>>,
    {
        let execute = |context| {
            let executed = executor(input.clone(), context);
            async { Ok(as_kept(serde_json::to_value(executed.await.map_err(Into::into)?)?)) }
        };
        let kept = async {
            let kept = json(&input)?;
            let what = Step {
                step,
                name,
                input: &kept,
            };
            let result = run_activity(&self.execution, what, &retry, execute).await?;
            typed(result, "result")
        };
        kept.await.map_err(|error| match error {
            Error::Failed(failure) => Error::Failed(failure),
            error => Error::Interrupted(Arc::new(Interruption {
                step: step.to_owned(),
                error,
            })),
        })
    }
}

impl std::fmt::Debug for Flow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Flow")
            .field("id", &self.execution.run_id)
            .finish_non_exhaustive()
    }
}

pub(crate) async fn run_workflow<I, R, E, F, Fut>(access: &Access, options: WorkflowOptions<I>, run: F) -> Result<R>
where
    I: Serialize + DeserializeOwned,
    R: Serialize + DeserializeOwned,
    E: Into<Failure>,
    F: FnOnce(Flow, I) -> Fut,
    Fut: Future<Output = Result<R, E>>,
{
    let WorkflowOptions {
        definition,
        version,
        input,
        idempotency_key,
        duration,
    } = options;
    let body = CreateWorkflow {
        input: json(&input)?,
        ..CreateWorkflow::new(definition, version.into(), idempotency_key, duration.as_secs())
    };
    let found = patiently(WHILE_THE_PLATFORM_RESTARTS, || workflows::create(access, &body)).await?;
    let result = execute(access, found, |flow, input| untyped(run, flow, input)).await?;
    typed(result, "result")
}

/// The function as one from JSON to JSON.
pub(crate) async fn untyped<I, R, E, F, Fut>(run: F, flow: Flow, input: Value) -> Result<Value, Failure>
where
    I: DeserializeOwned,
    R: Serialize,
    E: Into<Failure>,
    F: FnOnce(Flow, I) -> Fut,
    Fut: Future<Output = Result<R, E>>,
{
    let result = run(flow, typed(input, "input")?).await.map_err(Into::into)?;
    Ok(as_kept(serde_json::to_value(result)?))
}

/// Executes a run, or tells how it ended.
pub(crate) async fn execute<F, Fut>(access: &Access, run: WorkflowRun, function: F) -> Result<Value>
where
    F: FnOnce(Flow, Value) -> Fut,
    Fut: Future<Output = Result<Value, Failure>>,
{
    if run.status != WorkflowStatus::Running {
        return ended(run);
    }
    let _awake = Awake::hold(access);
    let stopped = Signal::new();
    let execution = Arc::new(Execution {
        access: access.clone(),
        run_id: run.id,
        stopped: stopped.clone(),
    });
    // Also when this future is dropped: for activities that run in tasks of their own.
    let _stop = StopOnDrop(stopped);
    let outcome = function(
        Flow {
            execution: Arc::clone(&execution),
        },
        run.input,
    )
    .await;
    match end(&execution, outcome).await {
        Err(error) if error.code() == "workflow_not_running" => {
            // Another process may have ended it.
            let runs = Workflows { access };
            let now = patiently(WHILE_THE_PLATFORM_RESTARTS, || runs.get(&execution.run_id)).await?;
            if now.status == WorkflowStatus::Running {
                Err(error)
            } else {
                ended(now)
            }
        }
        outcome => outcome,
    }
}

/// Ends the run with this outcome, unless it is that the execution was ended.
async fn end(execution: &Execution, outcome: Result<Value, Failure>) -> Result<Value> {
    if let Some(interruption) = outcome.as_ref().err().and_then(Failure::interruption) {
        return Err(interruption);
    }
    if let Some(reason) = execution.stopped.reason() {
        return Err(reason);
    }
    let body = match &outcome {
        Ok(result) => CompleteWorkflow::Completed { result: result.clone() },
        Err(failure) => CompleteWorkflow::Failed {
            error: failure.described(),
        },
    };
    execution
        .patiently(|| workflows::end(&execution.access, &execution.run_id, &body))
        .await?;
    outcome.map_err(Error::Failed)
}

fn ended(run: WorkflowRun) -> Result<Value> {
    let key = run.idempotency_key;
    match run.status {
        WorkflowStatus::Completed => Ok(run.result),
        WorkflowStatus::Failed => {
            let unknown = || WorkflowError {
                code: None,
                message: "The run failed.".to_owned(),
            };
            Err(Error::WorkflowFailed(run.error.unwrap_or_else(unknown)))
        }
        WorkflowStatus::Cancelled => Err(Error::WorkflowNotRunning(format!("The run \"{key}\" was cancelled."))),
        _ => Err(Error::WorkflowNotRunning(format!("The run \"{key}\" has expired."))),
    }
}

struct StopOnDrop(Signal);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.raise(Error::WorkflowNotRunning(
            "The execution of this run has ended.".to_owned(),
        ));
    }
}

fn json(value: &impl Serialize) -> Result<Value> {
    let invalid = |error| Error::InvalidRequest(format!("The input is not JSON: {error}."));
    serde_json::to_value(value).map(as_kept).map_err(invalid)
}

/// As the next execution will see it: the platform has one kind of number, so that `1.0` comes back as `1`.
fn as_kept(value: Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => (float as i64).into(),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(as_kept).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, as_kept(value)))
            .collect(),
        other => other,
    }
}

fn typed<T: DeserializeOwned>(value: Value, what: &str) -> Result<T> {
    let unexpected = |error| {
        Error::InvalidAnswer(format!(
            "The {what} that the platform keeps is not of the expected type: {error}."
        ))
    };
    serde_json::from_value(value).map_err(unexpected)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::as_kept;

    #[test]
    fn numbers_are_those_that_the_platform_gives_back() {
        let given =
            json!({ "a": [1.0, -0.0, 1.5, 1e300, 9_007_199_254_740_992.0], "b": { "c": -3.0, "d": 7, "e": "1.0" } });
        let kept = json!({ "a": [1, 0, 1.5, 1e300, 9_007_199_254_740_992.0], "b": { "c": -3, "d": 7, "e": "1.0" } });
        assert_eq!(as_kept(given), kept);
    }
}
