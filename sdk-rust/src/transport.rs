//! The connections to the platform.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};

const CONNECT: Duration = Duration::from_secs(10);
/// Shorter than servers and proxies keep an idle connection, which would otherwise end just as it is used again.
const IDLE: Duration = Duration::from_secs(30);

/// # Errors
///
/// [`Error::Network`] when TLS cannot be set up, [`Error::InvalidRequest`] for https without the feature `rustls`.
pub(crate) fn open(api: &str) -> Result<reqwest::Client> {
    let builder = reqwest::Client::builder()
        // The Gateway is beside the workload; what it redirects to would get the credential.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .user_agent(concat!("platform-services/", env!("CARGO_PKG_VERSION")));
    let client = secured(local(builder, api), api)?.build();
    client.map_err(|error| Error::Network(Arc::new(error)))
}

/// A name below `localhost` is this machine (RFC 6761, section 6.3), whatever the system's resolver knows of it.
fn local(builder: reqwest::ClientBuilder, api: &str) -> reqwest::ClientBuilder {
    let Some(host) = reqwest::Url::parse(api)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
    else {
        return builder;
    };
    let name = host.strip_suffix('.').unwrap_or(&host);
    if name != "localhost" && !name.ends_with(".localhost") {
        return builder;
    }
    // The port is that of the address.
    let loopback = [
        SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
    ];
    builder.resolve_to_addrs(&host, &loopback)
}

#[cfg(feature = "rustls")]
fn secured(builder: reqwest::ClientBuilder, api: &str) -> Result<reqwest::ClientBuilder> {
    use rustls::{ClientConfig, RootCertStore, crypto::ring};
    use rustls_platform_verifier::BuilderVerifierExt;

    let failed = |error: rustls::Error| Error::Network(Arc::new(error));
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let config = if is_https(api) {
        config.with_platform_verifier().map_err(failed)?.with_no_client_auth()
    } else {
        // Plain HTTP needs no certificates, which a small image may not have.
        config
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()
    };
    Ok(builder.tls_backend_preconfigured(config))
}

#[cfg(not(feature = "rustls"))]
fn secured(builder: reqwest::ClientBuilder, api: &str) -> Result<reqwest::ClientBuilder> {
    if is_https(api) {
        let detail = format!("{api} needs TLS: build platform-services with the feature `rustls`.");
        return Err(Error::InvalidRequest(detail));
    }
    Ok(builder)
}

fn is_https(api: &str) -> bool {
    api.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
}
