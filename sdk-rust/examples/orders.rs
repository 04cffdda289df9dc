//! A backend for a package of runtime `binary`: takes orders, and each is a workflow that reserves, charges once the buyer
//! has confirmed, and mails. Kill it at any moment: its next start finishes what was under way, and nothing is charged twice.
//!
//! `POST /orders/<number>` takes an order, `POST /orders/<number>/confirm` confirms it, `GET /orders/<number>` says how it is,
//! `GET /ledger` what was done.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use platform_services::{
    ActivityContext, Error, Failure, Flow, PlatformServicesClient, WorkflowDefinition, WorkflowFilter, WorkflowOptions,
};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::task::JoinSet;

const DEFINITION: &str = "order";
const VERSION: u32 = 1;

struct Shop {
    platform: PlatformServicesClient,
    /// Stands for what is outside, such as a bank: it knows what it did by the idempotency key.
    ledger: PathBuf,
    confirmations: Mutex<HashMap<String, Arc<Notify>>>,
    runs: Mutex<JoinSet<()>>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ledger = PathBuf::from(std::env::var("PLATFORM_VOLUME_DIR")?).join("ledger");
    let platform = PlatformServicesClient::from_env()?;
    let shop = Arc::new(Shop {
        platform,
        ledger,
        confirmations: Mutex::default(),
        runs: Mutex::default(),
    });
    let listener = TcpListener::bind(("0.0.0.0", std::env::var("PORT")?.parse()?)).await?;
    // What was under way when the former process ended.
    shop.spawn(resume(Arc::clone(&shop)));
    let mut ending = signal(SignalKind::terminate())?;
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = ending.recv() => break,
        };
        let shop = Arc::clone(&shop);
        let answer = service_fn(move |request| answer(Arc::clone(&shop), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
    // Gives the steps under way back, so that the next process can take them at once.
    shop.runs().abort_all();
    shop.platform.finish_background_work().await;
    Ok(())
}

async fn resume(shop: Arc<Shop>) {
    let run = {
        let shop = Arc::clone(&shop);
        move |flow, number| order(Arc::clone(&shop), flow, number)
    };
    match shop
        .platform
        .resume_workflows(&[WorkflowDefinition::new(DEFINITION, VERSION, run)])
        .await
    {
        Ok(runs) => runs
            .iter()
            .for_each(|run| println!("Order {} ended: {:?}", run.idempotency_key, run.outcome)),
        Err(error) => println!("Orders could not be resumed: {error}"),
    }
}

/// The workflow. Each step is executed until it completed once; its effect carries the step's idempotency key.
async fn order(shop: Arc<Shop>, flow: Flow, number: String) -> Result<String, Error> {
    let shop = &shop;
    let seat = flow.activity("reserve", "reserve a seat", number.clone(), async |_number, context| {
        shop.effect("reserve", &context)
    });
    let seat: String = seat.await?;
    let receipt = flow.activity(
        "charge",
        "charge the card",
        number.clone(),
        async |number: String, context| {
            let receipt = shop.effect("charge", &context)?;
            shop.confirmation(&number).notified().await;
            Ok::<_, Failure>(receipt)
        },
    );
    let receipt: String = receipt.await?;
    let mail = flow.activity(
        "mail",
        "mail the receipt",
        receipt.clone(),
        async |_receipt, context| shop.effect("mail", &context),
    );
    let _mail: String = mail.await?;
    Ok(format!("{seat} {receipt}"))
}

impl Shop {
    /// What something outside would do: with a key that it knows it answers as before, and does nothing.
    fn effect(&self, what: &str, context: &ActivityContext) -> Result<String, Failure> {
        let key = &context.idempotency_key;
        let done = std::fs::read_to_string(&self.ledger)
            .unwrap_or_default()
            .contains(&format!("{what} {key} done"));
        let outcome = if done { "known" } else { "done" };
        let mut ledger = OpenOptions::new().create(true).append(true).open(&self.ledger)?;
        writeln!(ledger, "{what} {key} {outcome} in attempt {}", context.attempt)?;
        Ok(format!("{what}-{key}"))
    }

    fn runs(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn(&self, run: impl Future<Output = ()> + Send + 'static) {
        let mut runs = self.runs();
        while runs.try_join_next().is_some() {}
        runs.spawn(run);
    }

    fn confirmation(&self, number: &str) -> Arc<Notify> {
        let mut confirmations = self.confirmations.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(confirmations.entry(number.to_owned()).or_default())
    }

    /// Begins the run; it goes on after the answer.
    fn take(self: Arc<Self>, number: String) {
        let shop = Arc::clone(&self);
        shop.spawn(async move {
            let options = WorkflowOptions {
                definition: DEFINITION.to_owned(),
                version: VERSION,
                input: number.clone(),
                idempotency_key: number.clone(),
                duration: Duration::from_secs(86_400),
            };
            let run = |flow, number| order(Arc::clone(&self), flow, number);
            let outcome = self.platform.run_workflow(options, run).await;
            println!("Order {number} ended: {outcome:?}");
        });
    }

    async fn status(&self, number: &str) -> Result<String, Error> {
        let orders = WorkflowFilter {
            definition: Some(DEFINITION.to_owned()),
            ..WorkflowFilter::default()
        };
        let runs = self.platform.workflows().list_with(orders).await?.items;
        let found = runs.into_iter().find(|run| run.idempotency_key == number);
        Ok(found.map_or("unknown".to_owned(), |run| format!("{} {}", run.status, run.result)))
    }
}

async fn answer(shop: Arc<Shop>, request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    let path: Vec<&str> = request.uri().path().split('/').skip(1).collect();
    let (status, text) = match (request.method().as_str(), path.as_slice()) {
        ("POST", ["orders", number]) => {
            shop.take((*number).to_owned());
            (StatusCode::ACCEPTED, String::new())
        }
        ("POST", ["orders", number, "confirm"]) => {
            shop.confirmation(number).notify_one();
            (StatusCode::NO_CONTENT, String::new())
        }
        ("GET", ["orders", number]) => match shop.status(number).await {
            Ok(status) => (StatusCode::OK, status),
            Err(error) => (StatusCode::BAD_GATEWAY, error.to_string()),
        },
        ("GET", ["ledger"]) => (
            StatusCode::OK,
            std::fs::read_to_string(&shop.ledger).unwrap_or_default(),
        ),
        _ => (StatusCode::NOT_FOUND, String::new()),
    };
    let mut response = Response::new(text);
    *response.status_mut() = status;
    Ok(response)
}
