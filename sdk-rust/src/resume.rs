//! Executes the runs that are still running, as an app does when it starts.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::call::Access;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::page::PageOptions;
use crate::patience::{WHILE_THE_PLATFORM_RESTARTS, patiently};
use crate::run_workflow::{Flow, execute, untyped};
use crate::wire::{WorkflowRun, WorkflowStatus};
use crate::workflows::{WorkflowFilter, Workflows};

const RESUMED_AT_ONCE: usize = 16;

type Executed = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send>>;

/// A workflow function with its name and version, for [`resume_workflows`].
///
/// [`resume_workflows`]: crate::PlatformServicesClient::resume_workflows
#[derive(Clone)]
pub struct WorkflowDefinition {
    definition: String,
    version: u32,
    run: Arc<dyn Fn(Flow, Value) -> Executed + Send + Sync>,
}

impl WorkflowDefinition {
    /// The same as are given to [`run_workflow`](crate::PlatformServicesClient::run_workflow).
    pub fn new<I, R, E, F, Fut>(definition: impl Into<String>, version: u32, run: F) -> Self
    where
        I: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        E: Into<Failure> + Send + 'static,
        F: Fn(Flow, I) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, E>> + Send + 'static,
    {
        let run = Arc::new(run);
        let run = move |flow, input| -> Executed {
            let run = Arc::clone(&run);
            Box::pin(untyped(move |flow, input| run(flow, input), flow, input))
        };
        Self {
            definition: definition.into(),
            version,
            run: Arc::new(run),
        }
    }
}

impl std::fmt::Debug for WorkflowDefinition {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("WorkflowDefinition");
        shown
            .field("definition", &self.definition)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A run that was executed again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResumedRun {
    /// Of the run.
    pub id: String,
    /// Of its function.
    pub definition: String,
    /// Of the logical run.
    pub idempotency_key: String,
    /// What the function returned, or how it failed.
    pub outcome: Result<Value>,
}

pub(crate) async fn resume_workflows(access: &Access, definitions: &[WorkflowDefinition]) -> Result<Vec<ResumedRun>> {
    let mut waiting = Vec::new();
    for definition in definitions {
        let found = running(access, &definition.definition).await?;
        let of_version = found
            .into_iter()
            .filter(|run| run.version == i64::from(definition.version));
        waiting.extend(of_version.map(|run| Waiting {
            run,
            definition: definition.clone(),
        }));
    }
    let mut waiting = waiting.into_iter();
    let mut executing = JoinSet::new();
    let mut begun = HashMap::new();
    let mut resumed = Vec::new();
    loop {
        while executing.len() < RESUMED_AT_ONCE {
            let Some(next) = waiting.next() else { break };
            let WorkflowRun {
                id,
                definition,
                idempotency_key,
                ..
            } = next.run.clone();
            let task = executing.spawn(resume(access.clone(), next)).id();
            begun.insert(task, (id, definition, idempotency_key));
        }
        let Some(joined) = executing.join_next_with_id().await else {
            return Ok(resumed);
        };
        let (task, outcome) = match joined {
            Ok((task, outcome)) => (task, outcome),
            // The function panicked: its run goes on the next time.
            Err(error) => (
                error.id(),
                Err(Error::Failed(Failure::new(format!("The function stopped: {error}.")))),
            ),
        };
        if let Some((id, definition, idempotency_key)) = begun.remove(&task) {
            resumed.push(ResumedRun {
                id,
                definition,
                idempotency_key,
                outcome,
            });
        }
    }
}

async fn running(access: &Access, definition: &str) -> Result<Vec<WorkflowRun>> {
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let list = || {
            let page = PageOptions {
                cursor: cursor.clone(),
                ..PageOptions::default()
            };
            let (status, definition) = (Some(WorkflowStatus::Running), Some(definition.to_owned()));
            async {
                Workflows { access }
                    .list_with(WorkflowFilter {
                        status,
                        definition,
                        page,
                    })
                    .await
            }
        };
        let page = patiently(WHILE_THE_PLATFORM_RESTARTS, list).await?;
        found.extend(page.items);
        cursor = match page.next_cursor {
            None => return Ok(found),
            more => more,
        };
    }
}

struct Waiting {
    run: WorkflowRun,
    definition: WorkflowDefinition,
}

async fn resume(access: Access, Waiting { run, definition }: Waiting) -> Result<Value> {
    execute(&access, run, |flow, input| (definition.run)(flow, input)).await
}
