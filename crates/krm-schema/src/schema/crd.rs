//! The declarations of a CustomResourceDefinition of the package about the lists of its resources.
//!
//! kpt replaces the lists of custom resources whole although the definition beside them names their keys. Here the definition is read like
//! the user's `openapi`, with the next lower precedence. Source: structural schemas, apiextensions.k8s.io/v1.

use krm_yaml::NodeRef;

use super::openapi::Schema;

/// The schema of each served version of a definition, by apiVersion and kind; empty if the node is not a definition.
pub(super) fn schemas(definition: NodeRef<'_>) -> Vec<((String, String), Schema<'_>)> {
    let text = |path: &[&str]| definition.at(path).and_then(NodeRef::as_str);
    let (Some(group), Some(kind)) = (text(&["spec", "group"]), text(&["spec", "names", "kind"])) else {
        return Vec::new();
    };
    // In v1beta1, one schema applies to all versions.
    let of_all = definition.at(&["spec", "validation", "openAPIV3Schema"]);
    let versions = definition.at(&["spec", "versions"]).into_iter().flat_map(NodeRef::elements);
    let served = versions.filter(|v| v.get("served").is_none_or(|s| s.string() != "false"));
    served
        .filter_map(|version| {
            let name = version.get("name").and_then(NodeRef::as_str)?;
            let schema = version.at(&["schema", "openAPIV3Schema"]).or(of_all)?;
            Some(((format!("{group}/{name}"), kind.to_owned()), Schema::structural(schema)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::mode::Mode;
    use crate::schema::{Alternatives, Inference, ListKind, Types, list_kind};
    use krm_tree::child::MergeKey;
    use krm_tree::path::KeyDefault;
    use krm_yaml::Document;

    const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  names: {kind: Gateway}
  versions:
  - name: v1
    served: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            oneOf:
            - required: [servers]
            - required: [pools]
            - not: {anyOf: [{required: [servers]}, {required: [pools]}]}
            properties:
              count: {oneOf: [{type: integer}, {type: string}]}
              way: {allOf: [{oneOf: [{required: [a, b]}, {required: [c]}]}, {oneOf: [{required: [x]}, {required: [y]}]}]}
              servers:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [host, port]
                items:
                  type: object
                  properties:
                    port: {type: integer, default: 80}
                    hosts: {type: array, x-kubernetes-list-type: set, items: {type: string}}
                    routes: {type: array, items: {type: object}}
              pools:
                type: object
                additionalProperties:
                  type: object
                  properties:
                    members: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id]}
              free:
                type: object
                x-kubernetes-preserve-unknown-fields: true
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
  - name: v1alpha1
    served: false
    schema: {openAPIV3Schema: {type: object}}
";

    #[test]
    fn a_definition_says_which_fields_exclude_each_other() {
        let doc = Document::parse(DEFINITION).expect("valid");
        let types = Types::new([], Inference::On).with_definitions(doc.roots());
        let spec = types.root("example.com/v1", "Gateway", Mode::ThreeWay).field("spec");
        for (cursor, name, want) in [
            (spec, "servers", "servers pools"),
            (spec, "free", ""),
            (spec.field("count"), "integer", ""),
            // A way with two fields is no single one.
            (spec.field("way"), "c", ""),
            (spec.field("way"), "y", "x y"),
        ] {
            let group = cursor.alternatives("spec").find(|group| group.has(name));
            let fields = group.map(|group| match group {
                Alternatives::Of(fields) => fields.join(" "),
                Alternatives::Beside(key) => format!("beside {key}"),
            });
            assert_eq!(fields.unwrap_or_default(), want, "{name}");
        }
    }

    #[test]
    fn a_definition_names_the_keys_of_its_lists() {
        let doc = Document::parse(DEFINITION).expect("valid");
        let definition = doc.roots().next().expect("root");
        let types = Types::new([], Inference::On).with_definitions([definition]);
        let named = Document::parse("[{name: a, host: x, id: 1}]").expect("valid");
        let side = [named.roots().next().expect("root").elements().collect::<Vec<_>>()];
        let spec = types.root("example.com/v1", "Gateway", Mode::ThreeWay).field("spec");
        let kind = |cursor| list_kind(cursor, &side);
        assert_eq!(
            kind(spec.field("servers")),
            Ok(ListKind::Map(vec![
                "host".into(),
                MergeKey { name: "port", default: Some(KeyDefault::Declared("80".into())) }
            ]))
        );
        assert_eq!(kind(spec.field("servers").field("routes")), Ok(ListKind::Atomic), "a schema overrules inference");
        assert_eq!(kind(spec.field("pools").field("blue").field("members")), Ok(ListKind::Map(vec!["id".into()])));
        assert_eq!(
            kind(spec.field("free").field("l")),
            Ok(ListKind::Map(vec!["name".into()])),
            "nothing is known here"
        );
        let finalizers = spec.field("template").field("metadata").field("finalizers");
        let scalars = [Vec::<krm_yaml::NodeRef<'_>>::new()];
        assert_eq!(list_kind(finalizers, &scalars), Ok(ListKind::Set), "an embedded resource has an ObjectMeta");
        assert_eq!(list_kind(spec.field("servers").field("hosts"), &scalars), Ok(ListKind::Set));
        let other = types.root("example.com/v1alpha1", "Gateway", Mode::ThreeWay).field("spec").field("servers");
        assert_eq!(kind(other), Ok(ListKind::Map(vec!["name".into()])), "a version that is not served says nothing");
    }

    #[test]
    fn of_two_definitions_of_one_type_the_later_one_holds() {
        let docs = ["id", "host"]
            .map(|key| Document::parse(DEFINITION.replace("[host, port]", &format!("[{key}]"))).expect("valid"));
        let types = Types::new([], Inference::On).with_definitions(docs.iter().flat_map(Document::roots));
        let named = Document::parse("[{host: x, id: 1}]").expect("valid");
        let side = [named.roots().next().expect("root").elements().collect::<Vec<_>>()];
        let servers = types.root("example.com/v1", "Gateway", Mode::ThreeWay).field("spec").field("servers");
        assert_eq!(list_kind(servers, &side), Ok(ListKind::Map(vec!["host".into()])));
    }
}
