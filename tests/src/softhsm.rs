//! An HSM in software: SoftHSM, used through PKCS #11 with OpenSC's `pkcs11-tool` (the Debian packages `softhsm2` and `opensc`). With
//! `AUDIT_TEST_REQUIRE_SOFTHSM` set, not having them is a failure.

use crate::edge::temporary_directory;
use crate::prerequisite::Prerequisite;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where packages install the library.
const MODULES: [&str; 3] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
];
const TOKEN: &str = "audit";
const PIN: &str = "5678";

/// A token with keys that nothing can read.
#[derive(Debug)]
pub struct SoftHsm {
    module: &'static str,
    configuration: PathBuf,
}

/// A key in a token.
#[derive(Debug)]
pub struct HsmKey {
    /// The command that signs standard input with it.
    pub command: String,
    /// The public key in hexadecimal.
    pub public_key: String,
}

impl SoftHsm {
    /// A new token. `None` without the programs.
    pub fn create() -> Option<Self> {
        let module = MODULES.into_iter().find(|path| Path::new(path).exists());
        let module = module.ok_or("its library is not installed");
        let module = Prerequisite::SoftHsm.check(module)?;
        let programs = ["softhsm2-util", "pkcs11-tool"].map(|program| Command::new(program).output());
        for program in programs {
            Prerequisite::SoftHsm.check(program)?;
        }
        let folder = temporary_directory("hsm-");
        let tokens = folder.join("tokens");
        std::fs::create_dir(&tokens).expect("create a directory");
        let configuration = folder.join("softhsm2.conf");
        let text = format!("directories.tokendir = {}\n", tokens.display());
        std::fs::write(&configuration, text).expect("write the configuration");
        let hsm = Self {
            module,
            configuration,
        };
        let init = format!("softhsm2-util --init-token --free --label {TOKEN} --so-pin 1234 --pin {PIN}");
        hsm.run(&init);
        Some(hsm)
    }

    /// A new Ed25519 key with this id: two hexadecimal digits.
    pub fn key(&self, id: &str) -> HsmKey {
        let tool = format!("pkcs11-tool --module {} --token-label {TOKEN}", self.module);
        self.run(&format!(
            "{tool} --login --pin {PIN} --keypairgen --key-type EC:edwards25519 --id {id}"
        ));
        let public_key = self.run(&format!(
            "{tool} --read-object --type pubkey --id {id} | openssl pkey -pubin -outform DER | tail -c 32"
        ));
        let public_key = public_key.stdout.iter().map(|byte| format!("{byte:02x}"));
        HsmKey {
            command: format!(
                "env SOFTHSM2_CONF={} AUDIT_HSM_PIN={PIN} {tool} --login --pin env:AUDIT_HSM_PIN --sign --mechanism EDDSA --id {id}",
                self.configuration.display()
            ),
            public_key: public_key.collect(),
        }
    }

    fn run(&self, command: &str) -> Output {
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", command])
            .env("SOFTHSM2_CONF", &self.configuration);
        let output = shell.output().expect("run a command");
        assert!(output.status.success(), "{command}: {output:?}");
        output
    }
}
