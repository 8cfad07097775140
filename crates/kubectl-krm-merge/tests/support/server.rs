//! A server of files in memory, and packed charts for it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use krm_files::disk::hash;

/// A version of a chart, and its files.
pub type Version<'v> = (&'v str, &'v [(String, String)]);

/// A server of files in memory, which counts what it was asked. It ends with the tests.
#[derive(Clone, Default)]
pub struct Server {
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// The status of each answer, if it is always the same; without a text, nothing is answered.
    status: Arc<Mutex<Option<&'static str>>>,
    port: u16,
}

impl Server {
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let server = Self { port: listener.local_addr().expect("an address").port(), ..Self::default() };
        let own = server.clone();
        std::thread::spawn(move || {
            listener.incoming().filter_map(Result::ok).for_each(|stream| _ = own.answer(&stream));
        });
        server
    }

    fn answer(&self, mut stream: &TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let path = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
        self.asked.lock().expect("unlocked").push(path.clone());
        let always = *self.status.lock().expect("unlocked");
        if always == Some("") {
            return Ok(());
        }
        let found = self.files.lock().expect("unlocked").get(&path).cloned();
        let (status, body) = found.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
        let (status, body) = always.map_or((status, body), |status| (status, Vec::new()));
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        stream.write_all(head.as_bytes())?;
        stream.write_all(&body)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Answers like this from now on.
    pub fn answers(&self, status: Option<&'static str>) {
        *self.status.lock().expect("unlocked") = status;
    }

    /// All that it was asked for since the last time.
    pub fn all_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("unlocked"))
    }

    /// Makes these tags the ones of an image.
    pub fn image(&self, path: &str, tags: &[Version<'_>]) {
        for (tag, files) in tags {
            let bytes = packed("web/", files);
            let layer = hash(&bytes);
            let kind = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
            let manifest = format!(
                "{{\"layers\":[{{\"mediaType\":\"{kind}\",\"digest\":\"sha256:{layer}\",\"size\":{}}}]}}",
                bytes.len()
            );
            self.put(&format!("v2/{path}/manifests/sha256:{}", hash(manifest.as_bytes())), manifest.clone());
            self.put(&format!("v2/{path}/manifests/{tag}"), manifest);
            self.put(&format!("v2/{path}/blobs/sha256:{layer}"), bytes);
        }
        let tags: Vec<&str> = tags.iter().map(|(tag, _)| *tag).collect();
        self.put(&format!("v2/{path}/tags/list?n=1000"), format!("{{\"tags\":{tags:?}}}"));
    }

    pub fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.files.lock().expect("unlocked").insert(path.to_owned(), bytes.into());
    }

    /// How often it was asked for a path since the last time.
    pub fn asked(&self, path: &str) -> usize {
        let asked = std::mem::take(&mut *self.asked.lock().expect("unlocked"));
        asked.iter().filter(|asked| *asked == path).count()
    }

    /// Whether nobody asked it since the last time.
    pub fn is_idle(&self) -> bool {
        self.asked.lock().expect("unlocked").is_empty()
    }

    /// Makes these versions of a chart the ones of the repository.
    pub fn index(&self, charts: &[Version<'_>]) {
        self.list(&[("web", charts)]);
    }

    /// The same for several charts.
    pub fn list(&self, charts: &[(&str, &[Version<'_>])]) {
        let mut index = "apiVersion: v1\nentries:\n".to_owned();
        for (name, versions) in charts {
            index.push_str(&format!("  {name}:\n"));
            self.versions(name, versions, &mut index);
        }
        self.put("index.yaml", index);
    }

    fn versions(&self, name: &str, charts: &[Version<'_>], index: &mut String) {
        for (version, files) in charts {
            let bytes = packed(&format!("{name}/"), files);
            let digest = hash(&bytes);
            index.push_str(&format!(
                "  - apiVersion: v2\n    name: {name}\n    version: {version}\n    digest: {digest}\n    urls: [{name}-{version}.tgz]\n"
            ));
            self.put(&format!("{name}-{version}.tgz"), bytes);
        }
    }
}

/// An archive of files in a folder.
pub fn packed(folder: &str, files: &[(String, String)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, format!("{folder}{path}"), text.as_bytes()).expect("written");
    }
    archive.into_inner().and_then(GzEncoder::finish).expect("written")
}
