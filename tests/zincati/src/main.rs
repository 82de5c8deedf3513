//! Zincati's own FleetLock client on the command line, for tests of the server.
//!
//!     zincati-client BASE-URL ID GROUP pre-reboot|steady-state
//!
//! Prints what Zincati would make of the answer: "granted", or "KIND: MESSAGE" as it is in its metrics and its log.
//! Only the identity is ours: Zincati's asks the machine.

mod identity {
    #[derive(Clone, Debug)]
    pub struct Id(pub String);

    impl Id {
        pub fn lower_hex(&self) -> String {
            self.0.clone()
        }
    }

    #[derive(Clone, Debug)]
    pub struct Identity {
        pub group: String,
        pub node_uuid: Id,
    }
}

mod fleet_lock {
    #![allow(dead_code)]
    include!(concat!(env!("OUT_DIR"), "/fleet_lock.rs"));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [base, id, group, what] = words.as_slice() else {
        anyhow::bail!("BASE-URL ID GROUP pre-reboot|steady-state");
    };
    let identity = identity::Identity { group: group.clone(), node_uuid: identity::Id(id.clone()) };
    let client = fleet_lock::ClientBuilder::new(base.clone(), &identity).build()?;
    let answer = match what.as_str() {
        "pre-reboot" => client.pre_reboot().await,
        "steady-state" => client.steady_state().await,
        _ => anyhow::bail!("{what}: neither of the two"),
    };
    match answer {
        Ok(true) => println!("granted"),
        Ok(false) => println!("not granted"),
        Err(error) => println!("{}: {error}", error.error_kind()),
    }
    Ok(())
}
