//! The client, and how one is made.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use crate::call::{Access, Call, Shared};
use crate::content::Content;
use crate::credential::{Credential, Renewal};
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::files::Files;
use crate::keep_awake::Awake;
use crate::messaging::Messaging;
use crate::notifications::Notifications;
use crate::object_storage::ObjectStorage;
use crate::page::{Page, PageOptions};
use crate::resume::{ResumedRun, WorkflowDefinition, resume_workflows};
use crate::run_workflow::{Flow, WorkflowOptions, run_workflow};
use crate::search::Search;
use crate::service_request::ServiceRequest;
use crate::tools::Tools;
use crate::wallet::Wallet;
use crate::wire::{AppCapability, ServicesApp, SystemInventory, VerifiedCapability, VerifyCapability, routes};
use crate::work_lease::{self, WorkLeaseHandle, WorkLeaseOptions};
use crate::workflows::Workflows;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// What is longer cannot be one, and clients present whatever they like.
const LONGEST_CAPABILITY: usize = 200;

/// The services of the platform for one installation. Cheap to clone; clones share their connections.
#[derive(Clone, Debug)]
pub struct PlatformServicesClient {
    access: Access,
    object_storage: Option<Arc<ObjectStorage>>,
}

/// Makes a client that is not made from the environment.
#[must_use = "it makes no client until `build`"]
pub struct ClientBuilder {
    api_url: String,
    token: String,
    timeout: Duration,
    renewal: Option<Renewal>,
    object_storage: Option<Arc<ObjectStorage>>,
}

impl ClientBuilder {
    /// Time limit of a call with all its attempts; default 30 s. Streams, and requests to outside services, have none.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// How to get another credential when the platform refuses the present one, for a native client whose capability ends
    /// with a session or after 12 hours. `None` leaves the call refused. Without it none is asked for.
    pub fn renew_with<F, Fut>(self, renew: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<String>> + Send + 'static,
    {
        Self {
            renewal: Some(Box::new(move || Box::pin(renew()))),
            ..self
        }
    }

    /// # Errors
    ///
    /// [`Error::InvalidRequest`] for an address that is none, [`Error::Network`] when TLS cannot be set up.
    pub fn build(self) -> Result<PlatformServicesClient> {
        let api = self.api_url.trim_end_matches('/').to_owned();
        let http = crate::transport::open(&api)?;
        let shared = Shared {
            api,
            credential: Credential::new(self.token, self.renewal),
            http,
            timeout: self.timeout,
            awake: Awake::default(),
            background: watch::Sender::default(),
        };
        let access = Access {
            shared: Arc::new(shared),
        };
        Ok(PlatformServicesClient {
            access,
            object_storage: self.object_storage,
        })
    }
}

impl PlatformServicesClient {
    /// A client for the installation this process belongs to, from `PLATFORM_API_URL` and `PLATFORM_GATEWAY_TOKEN`.
    ///
    /// # Errors
    ///
    /// [`Error::NotLaunched`] when the platform did not start this process.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// As [`from_env`](Self::from_env), with another place to find the variables in.
    ///
    /// # Errors
    ///
    /// [`Error::NotLaunched`] without an address or a credential.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let (Some(api_url), Some(token)) = (set("PLATFORM_API_URL"), set("PLATFORM_GATEWAY_TOKEN")) else {
            return Err(Error::NotLaunched(
                "PLATFORM_API_URL or PLATFORM_GATEWAY_TOKEN is missing: this process was not started by the platform. \
                 Run it with `./platform dev`."
                    .to_owned(),
            ));
        };
        let object_storage = ObjectStorage::from_variables(set).map(Arc::new);
        ClientBuilder {
            object_storage,
            ..Self::builder(api_url, token)
        }
        .build()
    }

    /// A client for an address and a credential, as `PLATFORM_API_URL` and `PLATFORM_GATEWAY_TOKEN` give them.
    pub fn builder(api_url: impl Into<String>, token: impl Into<String>) -> ClientBuilder {
        ClientBuilder {
            api_url: api_url.into(),
            token: token.into(),
            timeout: TIMEOUT,
            renewal: None,
            object_storage: None,
        }
    }

    /// Apps that the account installed or published, those covered by the grant `apps.catalog.read`: the first 50.
    ///
    /// # Errors
    ///
    /// What the platform refuses, such as `grant_missing`.
    pub async fn list_apps(&self) -> Result<Page<ServicesApp>> {
        self.list_apps_with(PageOptions::default()).await
    }

    /// The same, another part of the list than the first 50.
    ///
    /// # Errors
    ///
    /// As [`Self::list_apps`], and `invalid_cursor`.
    pub async fn list_apps_with(&self, options: PageOptions) -> Result<Page<ServicesApp>> {
        self.access.json(options.of(Call::new(&routes::APPS_LIST))).await
    }

    /// Inventory of the whole platform, for an app of the master account. Grant `system.inventory.read`.
    ///
    /// # Errors
    ///
    /// `master_account_only` unless the account that the operator named installed this app, and published it or got it
    /// with the platform.
    pub async fn system(&self) -> Result<SystemInventory> {
        self.access.json(Call::new(&routes::SYSTEM_READ)).await
    }

    /// A request to an AI provider, by its id as the operator chose it; `path` is below the provider's base URL, such as
    /// `chat/completions`. Grant `intelligence.use` on `<provider>:<model>`.
    pub fn intelligence_request(&self, method: Method, provider: &str, path: &str) -> ServiceRequest {
        ServiceRequest::intelligence(&self.access, method, provider, path)
    }

    /// A request to the outside service behind a secret slot of the manifest; `path` is below the slot's path. The secret
    /// is added on the way. Grants `secrets.use` and `network.connect`.
    pub fn outbound_request(&self, method: Method, slot: &str, path: &str) -> ServiceRequest {
        ServiceRequest::outbound(&self.access, method, slot, path)
    }

    /// Another capability like `PLATFORM_APP_CAPABILITY`, for clients that this workload lets in itself. It lasts 12 hours;
    /// the present one keeps its time.
    ///
    /// # Errors
    ///
    /// What the platform refuses.
    pub async fn renew_app_capability(&self) -> Result<AppCapability> {
        self.access.json(Call::new(&routes::APP_CAPABILITY_RENEW)).await
    }

    /// Whether a client of this workload's own protocol presented a capability of this installation that is valid now.
    ///
    /// # Errors
    ///
    /// When the platform does not answer.
    pub async fn verify_capability(&self, capability: &str) -> Result<bool> {
        if capability.is_empty() || capability.len() > LONGEST_CAPABILITY {
            return Ok(false);
        }
        let body = VerifyCapability {
            capability: capability.to_owned(),
        };
        let call = Call::new(&routes::APP_CAPABILITY_VERIFY).body(&body)?.repeatable(true);
        let verified: VerifiedCapability = self.access.json(call).await?;
        Ok(verified.valid)
    }

    /// Notifications of this app and of those whose topics it may read.
    pub fn notifications(&self) -> Notifications<'_> {
        Notifications { access: &self.access }
    }

    /// Messages of the account to other people.
    pub fn messaging(&self) -> Messaging<'_> {
        Messaging { access: &self.access }
    }

    /// Proposals to the wallet of the person.
    pub fn wallet(&self) -> Wallet<'_> {
        Wallet { access: &self.access }
    }

    /// Items that apps and people share.
    pub fn content(&self) -> Content<'_> {
        Content { access: &self.access }
    }

    /// Files of this app, and those that others opened to it.
    pub fn files(&self) -> Files<'_> {
        Files { access: &self.access }
    }

    /// Tools of the platform and of other apps.
    pub fn tools(&self) -> Tools<'_> {
        Tools::of_all(&self.access)
    }

    /// What the search of the account finds of this app.
    pub fn search(&self) -> Search<'_> {
        Search { access: &self.access }
    }

    /// Workflow runs of this installation. Needs no grant.
    pub fn workflows(&self) -> Workflows<'_> {
        Workflows { access: &self.access }
    }

    /// The settings of an S3 client for this installation's object storage; `None` without the grant
    /// `object-storage.raw`, or where the platform offers none.
    pub fn object_storage(&self) -> Option<&ObjectStorage> {
        self.object_storage.as_deref()
    }

    /// Runs a workflow function to its end, or gives the result it ended with. After a crash, running it again goes on
    /// where it was: completed activities give their results, the function itself is executed from its start.
    ///
    /// When the function fails, the run has failed, unless a step was interrupted because the platform refused it or could
    /// not be reached: then the run stays as it is, and running it again goes on. Dropping the future ends this
    /// execution in the same way; steps that were being executed are given back.
    ///
    /// # Errors
    ///
    /// [`Error::Failed`] with what the function failed with; [`Error::Interrupted`]; [`Error::WorkflowFailed`] for a run
    /// that failed before, [`Error::WorkflowNotRunning`] for one that was cancelled or has expired; `workflow_conflict`
    /// for an idempotency key that has another input.
    pub async fn run_workflow<I, R, E, F, Fut>(&self, options: WorkflowOptions<I>, run: F) -> Result<R>
    where
        I: Serialize + DeserializeOwned,
        R: Serialize + DeserializeOwned,
        E: Into<Failure>,
        F: FnOnce(Flow, I) -> Fut,
        Fut: Future<Output = Result<R, E>>,
    {
        run_workflow(&self.access, options, run).await
    }

    /// Executes every run of these definitions that is still running, 16 at a time, and returns how each of them came
    /// out. Call it when the app starts.
    ///
    /// # Errors
    ///
    /// What the platform refuses when the runs are listed.
    pub async fn resume_workflows(&self, definitions: &[WorkflowDefinition]) -> Result<Vec<ResumedRun>> {
        resume_workflows(&self.access, definitions).await
    }

    /// Keeps this workload awake while it works without receiving requests, until the handle is released or dropped.
    /// Needs no grant.
    ///
    /// # Errors
    ///
    /// `concurrency_limited` when the installation has as many leases as it may have.
    pub async fn acquire_work_lease(&self, options: WorkLeaseOptions) -> Result<WorkLeaseHandle> {
        WorkLeaseHandle::acquire(&self.access, options).await
    }

    /// Renews a lease for a duration, from now on, or for its last one; returns when it will end (RFC 3339).
    ///
    /// # Errors
    ///
    /// `not_found` when it is over.
    pub async fn renew_work_lease(&self, id: &str, duration: Option<Duration>) -> Result<String> {
        Ok(work_lease::renew(&self.access, id, duration).await?.expires_at)
    }

    /// Ends a lease.
    ///
    /// # Errors
    ///
    /// `not_found` when it is over.
    pub async fn release_work_lease(&self, id: &str) -> Result<()> {
        work_lease::release(&self.access, id).await
    }

    /// Waits until no step is being executed, and what dropped futures and handles left is done: steps given back, leases
    /// released. At the end of a process, after its tasks were aborted; otherwise others wait for these steps until their
    /// leases expire.
    pub async fn finish_background_work(&self) {
        // The sender is in this client.
        let _ = self
            .access
            .shared
            .background
            .subscribe()
            .wait_for(|count| *count == 0)
            .await;
    }
}
