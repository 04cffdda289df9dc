//! Object storage for a workload: the settings of an S3 client, from the variables that the platform set.

use std::fmt;

/// For an S3 client with path-style addresses.
#[derive(Clone)]
#[non_exhaustive]
pub struct ObjectStorage {
    /// Origin of the store at the Gateway.
    pub endpoint: String,
    /// Region.
    pub region: String,
    /// Name of the app's own bucket.
    pub bucket: String,
    /// Not secret.
    pub access_key_id: String,
    /// Not secret; the store's key stays with the platform.
    pub secret_access_key: String,
    /// This workload's own credential.
    pub session_token: String,
}

impl ObjectStorage {
    pub(crate) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self {
            endpoint: variable("PLATFORM_S3_ENDPOINT")?,
            region: variable("PLATFORM_S3_REGION")?,
            bucket: variable("PLATFORM_S3_BUCKET")?,
            access_key_id: variable("PLATFORM_S3_ACCESS_KEY_ID")?,
            secret_access_key: variable("PLATFORM_S3_SECRET_ACCESS_KEY")?,
            session_token: variable("PLATFORM_S3_SESSION_TOKEN")?,
        })
    }
}

impl fmt::Debug for ObjectStorage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The session token stays out of logs.
        let mut shown = formatter.debug_struct("ObjectStorage");
        shown
            .field("endpoint", &self.endpoint)
            .field("region", &self.region)
            .field("bucket", &self.bucket);
        shown.finish_non_exhaustive()
    }
}
