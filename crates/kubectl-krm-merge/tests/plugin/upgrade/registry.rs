//! Packages from Debian's `docker-registry` without TLS, into which the real helm pushes charts.

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::repository::commit;
use crate::support::{Folder, has, skipped};

/// A registry that other machines reach, too.
pub struct Registry {
    process: Child,
    pub authority: String,
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An address of this machine that is no loopback; `None` if it has none.
fn address() -> Option<String> {
    // Nothing is sent: the system only says from where it would.
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then(|| own.to_string())
}

/// Starts one at an address of this machine.
pub fn start(folder: &Folder, host: &str) -> Registry {
    let listener = TcpListener::bind((host, 0)).expect("a port");
    let authority = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let data = folder.path("registry");
    let config = format!(
        "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"{authority}\"}}\n",
        data.display()
    );
    folder.write("registry.yml", config);
    let mut command = Command::new("docker-registry");
    command.arg("serve").arg(folder.path("registry.yml")).stdout(Stdio::null()).stderr(Stdio::null());
    let process = command.spawn().expect("started");
    let begun = Instant::now();
    while TcpStream::connect(&authority).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "docker-registry must listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    Registry { process, authority }
}

/// Runs helm, with a home of its own.
pub fn helm(folder: &Folder, args: &[&str]) {
    let mut helm = Command::new("helm");
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        helm.env(name, folder.path(name));
    }
    let ran = helm.current_dir(&folder.0).args(args).output().expect("helm runs");
    assert!(ran.status.success(), "helm {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_registry_of_ones_own_may_be_without_tls() {
    if !has("helm") || !has("docker-registry") {
        return;
    }
    let Some(host) = address() else { return skipped("network", "has no address but loopback") };
    let folder = Folder::new();
    let registry = start(&folder, &host);
    for version in ["1.0.0", "1.1.0"] {
        folder.write("web/Chart.yaml", format!("apiVersion: v2\nname: web\nversion: {version}\n"));
        folder.write("web/values.yaml", format!("tag: {version}\nreplicas: 1\n"));
        helm(&folder, &["package", "web"]);
        let to = format!("oci://{}/charts", registry.authority);
        helm(&folder, &["push", &format!("web-{version}.tgz"), &to, "--plain-http"]);
    }
    let image = format!("oci://{}/charts/web", registry.authority);
    let release = |version: &str| format!("{image}:{version}");
    folder.run(&["get", &release("1.0.0"), "p"]).failed(2);
    folder.run(&["get", &release("1.0.0"), "p", "--plain-http"]).passed();
    folder.write("p/values.yaml", folder.read("p/values.yaml").replace("replicas: 1", "replicas: 2 # ours"));
    commit(&folder.path("p"), "got");
    folder.run(&["upgrade", "p"]).failed(2);
    let told = folder.run(&["list", ".", "--plain-http"]).passed();
    assert!(told.contains("1.0.0  1.0.0  1.1.0   1       1 "), "{told}");
    folder.run(&["upgrade", "p", "--plain-http"]).passed();
    assert_eq!(folder.read("p/values.yaml"), "tag: 1.1.0\nreplicas: 2 # ours\n");
    for args in [&["log", "p", "--from", "1.0.0"][..], &["diff", "p", "--exit-code=false"]] {
        folder.run(&[args, &["--plain-http"]].concat()).passed();
    }
    let side = |version| format!("{}//values.yaml@{version}", image);
    let told = folder.run(&["diff", &side("1.0.0"), &side("1.1.0"), "--plain-http"]);
    assert!(told.code == Some(1) && told.stdout.contains("1.1.0"), "{told:?}");
}
