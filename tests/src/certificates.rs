//! Certificates of servers and clients, signed by authorities of the tests.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::OffsetDateTime;

/// A certificate authority that nobody trusts who is not told to.
#[expect(missing_debug_implementations, reason = "it holds a private key")]
pub struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its private key, both in PEM.
#[expect(missing_debug_implementations, reason = "it holds a private key")]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// The key, in PKCS #8.
    pub key: String,
}

impl CertificateAuthority {
    /// A new one with this name. Clients tell authorities of one name apart by their signatures only.
    pub fn create(name: &str) -> Self {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names are valid names");
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let key = KeyPair::generate().expect("create a key");
        let certificate = parameters.self_signed(&key).expect("sign a certificate");
        Self {
            pem: certificate.pem(),
            issuer: Issuer::new(parameters, key),
        }
    }

    /// Its own certificate in PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for a server with these names and addresses.
    pub fn server(&self, names: &[&str]) -> Identity {
        self.sign(server_parameters(names))
    }

    /// The same, valid from the year 2000 until this time.
    pub fn server_until(&self, names: &[&str], until: OffsetDateTime) -> Identity {
        let mut parameters = server_parameters(names);
        parameters.not_before = rcgen::date_time_ymd(2000, 1, 1);
        parameters.not_after = until;
        self.sign(parameters)
    }

    /// A certificate for a client with this common name.
    pub fn client(&self, name: &str) -> Identity {
        let mut parameters = CertificateParams::new(Vec::new()).expect("no names are valid names");
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(parameters)
    }

    fn sign(&self, parameters: CertificateParams) -> Identity {
        let key = KeyPair::generate().expect("create a key");
        let certificate = parameters
            .signed_by(&key, &self.issuer)
            .expect("sign a certificate");
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

fn server_parameters(names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut parameters = CertificateParams::new(names).expect("names of a server");
    // OpenSSL takes a certificate for self-signed if it has the name of its issuer.
    parameters
        .distinguished_name
        .push(DnType::CommonName, "test server");
    parameters
}
