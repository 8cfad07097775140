//! The extension for VS Code, as a `.vsix`: `code --install-extension krm-merge-VERSION.vsix` installs it. It has the module for JavaScript.
//!
//! The extension's own `build.mjs` says what it is made of.
//!
//! Source: what `vsce package` writes: a zip of the folder `extension`, with a manifest in XML and the types of the files.

use std::process::Command;

use serde_json::{Value, json};

use super::Dist;
use super::files::{Entry, of_folder, zip};
use crate::machine::{read, start};
use crate::wasm;

const TYPES: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="json" ContentType="application/json"/><Default Extension="js" ContentType="application/javascript"/><Default Extension="mjs" ContentType="application/javascript"/><Default Extension="md" ContentType="text/markdown"/><Default Extension="txt" ContentType="text/plain"/><Default Extension="wasm" ContentType="application/wasm"/><Default Extension="vsixmanifest" ContentType="text/xml"/></Types>
"#;

/// Makes the package, if the module for JavaScript was built.
///
/// # Errors
/// It cannot be written.
pub fn make(dist: &Dist) -> Result<(), String> {
    let module = wasm::folder(&dist.root);
    if !module.exists() {
        return Ok(());
    }
    let own = dist.root.join("editors/vscode");
    start(Command::new("node").arg(own.join("build.mjs")).arg(module))?;
    let mut package: Value = serde_json::from_str(&read(&own.join("package.json"))?)
        .map_err(|e| format!("editors/vscode/package.json: {e}"))?;
    package["version"] = json!(dist.version);
    let text = serde_json::to_string_pretty(&package).map_err(|e| e.to_string())? + "\n";
    let mut entries = vec![
        Entry::text("[Content_Types].xml", TYPES.to_owned()),
        Entry::text("extension.vsixmanifest", manifest(&package)?),
        Entry::text("extension/package.json", text),
        Entry::text("extension/README.md", read(&own.join("README.md"))?),
        Entry::text("extension/LICENSE.txt", read(&dist.root.join("LICENSE"))?),
    ];
    for folder in ["lib", "schemas", "src"] {
        entries.extend(of_folder(&own.join(folder), &format!("extension/{folder}"))?);
    }
    dist.put(&format!("krm-merge-{}.vsix", dist.version), &zip(&entries)?)
}

fn manifest(package: &Value) -> Result<String, String> {
    let text = |field: &str| {
        let value =
            package[field].as_str().ok_or_else(|| format!("editors/vscode/package.json must have `{field}`"))?;
        Ok::<_, String>(value.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;"))
    };
    let engine = package["engines"]["vscode"].as_str().unwrap_or("*");
    Ok(format!(
        r#"<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="{}" Version="{}" Publisher="{}"/>
    <DisplayName>{}</DisplayName>
    <Description xml:space="preserve">{}</Description>
    <Categories>SCM Providers,Other</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="{engine}"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
"#,
        text("name")?,
        text("version")?,
        text("publisher")?,
        text("displayName")?,
        text("description")?
    ))
}
