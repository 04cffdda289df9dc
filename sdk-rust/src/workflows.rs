//! Workflow runs of this installation: what a program may do with them besides running them, and the calls by which a run
//! is executed.

use std::time::Duration;

use serde_json::Value;

use crate::call::{Access, Call};
use crate::error::Result;
use crate::page::{Page, PageOptions};
use crate::wire::{
    ActivityAnswer, ClaimActivity, ClaimAnswer, CompleteActivity, CompleteWorkflow, CreateWorkflow, RenewActivity,
    WorkflowAnswer, WorkflowEvent, WorkflowRun, WorkflowStatus, routes,
};

/// Workflow runs of this installation.
#[derive(Clone, Copy, Debug)]
pub struct Workflows<'a> {
    pub(crate) access: &'a Access,
}

/// Which runs.
#[derive(Clone, Debug, Default)]
pub struct WorkflowFilter {
    /// Of this status only.
    pub status: Option<WorkflowStatus>,
    /// Of this definition only.
    pub definition: Option<String>,
    /// Which part of the list.
    pub page: PageOptions,
}

impl Workflows<'_> {
    /// Newest first, the first 50. A page with large inputs and results ends early; `next_cursor` leads on.
    ///
    /// # Errors
    ///
    /// When the platform cannot be reached.
    pub async fn list(&self) -> Result<Page<WorkflowRun>> {
        self.list_with(WorkflowFilter::default()).await
    }

    /// The same, only some of them or another part of the list.
    ///
    /// # Errors
    ///
    /// As [`Workflows::list`], and `invalid_cursor`.
    pub async fn list_with(&self, filter: WorkflowFilter) -> Result<Page<WorkflowRun>> {
        let WorkflowFilter {
            status,
            definition,
            page,
        } = filter;
        let call = page.of(Call::new(&routes::WORKFLOWS_LIST));
        self.access
            .json(call.query("status", status).query("definition", definition))
            .await
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn get(&self, id: &str) -> Result<WorkflowRun> {
        let call = Call::new(&routes::WORKFLOWS_READ).parameter(id);
        Ok(self.access.json::<WorkflowAnswer>(call).await?.run)
    }

    /// What happened in it, oldest first, the first 50 events: structure and times, no inputs and results.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn history(&self, id: &str) -> Result<Page<WorkflowEvent>> {
        self.history_with(id, PageOptions::default()).await
    }

    /// The same, another part of it.
    ///
    /// # Errors
    ///
    /// As [`Workflows::history`], and `invalid_cursor`.
    pub async fn history_with(&self, id: &str, page: PageOptions) -> Result<Page<WorkflowEvent>> {
        self.access
            .json(page.of(Call::new(&routes::WORKFLOWS_HISTORY).parameter(id)))
            .await
    }

    /// Cancels a running run, whose executors then lose their leases; removes one that ended.
    ///
    /// # Errors
    ///
    /// `not_found`.
    pub async fn cancel(&self, id: &str) -> Result<()> {
        // Not repeated: the second time it would remove the run.
        self.access
            .empty(Call::new(&routes::WORKFLOWS_DELETE).parameter(id))
            .await
    }
}

pub(crate) async fn create(access: &Access, body: &CreateWorkflow) -> Result<WorkflowRun> {
    let call = Call::new(&routes::WORKFLOWS_CREATE).body(body)?;
    Ok(access.json::<WorkflowAnswer>(call).await?.run)
}

pub(crate) async fn end(access: &Access, id: &str, body: &CompleteWorkflow) -> Result<()> {
    let call = Call::new(&routes::WORKFLOWS_COMPLETE).parameter(id).body(body)?;
    access.json::<WorkflowAnswer>(call).await.map(|_| ())
}

pub(crate) async fn claim(access: &Access, id: &str, step: &str, name: &str, input: &Value) -> Result<ClaimAnswer> {
    let body = ClaimActivity {
        input: input.clone(),
        ..ClaimActivity::new(name)
    };
    access
        .json(
            Call::new(&routes::WORKFLOWS_CLAIM)
                .parameter(id)
                .parameter(step)
                .body(&body)?,
        )
        .await
}

pub(crate) async fn renew(access: &Access, id: &str, activity: &str, lease_token: &str, limit: Duration) -> Result<()> {
    let body = RenewActivity {
        lease_token: lease_token.to_owned(),
    };
    let call = Call::new(&routes::WORKFLOWS_RENEW)
        .parameter(id)
        .parameter(activity)
        .body(&body)?
        .timeout(limit);
    access.json::<ActivityAnswer>(call).await.map(|_| ())
}

pub(crate) async fn settle(access: &Access, id: &str, activity: &str, body: &CompleteActivity) -> Result<()> {
    let call = Call::new(&routes::WORKFLOWS_COMPLETE_ACTIVITY)
        .parameter(id)
        .parameter(activity)
        .body(body)?;
    access.json::<ActivityAnswer>(call).await.map(|_| ())
}
