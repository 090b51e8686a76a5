//! Certificates of servers and clients, signed by authorities of the tests.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

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
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut parameters = CertificateParams::new(names).expect("names of a server");
        // OpenSSL takes a certificate for self-signed if it has the name of its issuer.
        parameters
            .distinguished_name
            .push(DnType::CommonName, "test server");
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
