//! Whether a resource is still one of its type, by the types of `k8s-openapi`.

use k8s_openapi::api::{
    admissionregistration::v1 as admission, apps::v1 as apps, autoscaling::v2 as autoscaling, batch::v1 as batch,
    core::v1 as core, networking::v1 as networking, policy::v1 as policy, rbac::v1 as rbac,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// # Errors
/// Why it is none.
pub fn check(resource: &Value) -> Result<(), String> {
    fn as_type<T: DeserializeOwned>(resource: &Value) -> Result<(), String> {
        T::deserialize(resource).map(drop).map_err(|e| e.to_string())
    }
    match resource["kind"].as_str().unwrap_or_default() {
        "Deployment" => as_type::<apps::Deployment>(resource),
        "StatefulSet" => as_type::<apps::StatefulSet>(resource),
        "DaemonSet" => as_type::<apps::DaemonSet>(resource),
        "Pod" => as_type::<core::Pod>(resource),
        "Service" => as_type::<core::Service>(resource),
        "Ingress" => as_type::<networking::Ingress>(resource),
        "NetworkPolicy" => as_type::<networking::NetworkPolicy>(resource),
        "HorizontalPodAutoscaler" => as_type::<autoscaling::HorizontalPodAutoscaler>(resource),
        "PodDisruptionBudget" => as_type::<policy::PodDisruptionBudget>(resource),
        "Job" => as_type::<batch::Job>(resource),
        "CronJob" => as_type::<batch::CronJob>(resource),
        "ServiceAccount" => as_type::<core::ServiceAccount>(resource),
        "Role" => as_type::<rbac::Role>(resource),
        "RoleBinding" => as_type::<rbac::RoleBinding>(resource),
        "PersistentVolumeClaim" => as_type::<core::PersistentVolumeClaim>(resource),
        "ConfigMap" => as_type::<core::ConfigMap>(resource),
        "Secret" => as_type::<core::Secret>(resource),
        "Node" => as_type::<core::Node>(resource),
        "MutatingWebhookConfiguration" => as_type::<admission::MutatingWebhookConfiguration>(resource),
        "ValidatingWebhookConfiguration" => as_type::<admission::ValidatingWebhookConfiguration>(resource),
        kind => Err(format!("no type is known for {kind}")),
    }
}
