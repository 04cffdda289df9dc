//! The cases about wallet, collections and files.

use platform_services::{
    Condition, ContentRole, CreateCollection, FileAccess, FileAccessEntry, FilePrincipal, GivenRole, InviteMember,
    Money, PageOptions, PlatformServicesClient, ProposePayment, ProposePolicy, WalletProposalKind, WalletProposalState,
};

use crate::{FRIEND, Outcome, code};

pub async fn a_payment_is_proposed_once_and_waits(platform: &PlatformServicesClient) -> Outcome {
    let wallet = platform.wallet();
    let amount = Money {
        currency: "CREDIT".into(),
        value: "250".into(),
    };
    let payment = ProposePayment::new(FRIEND, amount, "lunch");
    let proposal = wallet.propose_payment(&payment).await?;
    equal!(proposal.state, WalletProposalState::Pending);
    equal!(wallet.propose_payment(&payment).await?, proposal);
    equal!(wallet.proposal(&proposal.id).await?, proposal);
    let other = ProposePayment {
        reference: Some("Dinner".into()),
        ..payment
    };
    equal!(code(wallet.propose_payment(&other).await), "proposal_conflict");
    let stranger = ProposePayment {
        to: "nobody-there".into(),
        idempotency_key: "stranger".into(),
        ..other
    };
    equal!(code(wallet.propose_payment(&stranger).await), "invalid_request");
    let policy = ProposePolicy::new("Friends", "CREDIT", "500", vec![FRIEND.into()], "friends");
    equal!(wallet.propose_policy(&policy).await?.kind, WalletProposalKind::Policy);
    Ok(())
}

pub async fn a_collection_is_made_changed_and_deleted(platform: &PlatformServicesClient) -> Outcome {
    let content = platform.content();
    let outer = content.create(&CreateCollection::new("list", "Home")).await?;
    let inner = CreateCollection {
        parent_id: Some(outer.id.clone()),
        ..CreateCollection::new("list", "Groceries")
    };
    let inner = content.create(&inner).await?;
    equal!(inner.role, ContentRole::Owner);
    equal!(content.read(&inner.id).await?, inner);
    equal!(
        content.rename(&inner.id, "Food").await?.parent_id,
        Some(outer.id.clone())
    );
    equal!(
        code(content.move_to(&outer.id, Some(&inner.id)).await),
        "content_conflict"
    );
    equal!(content.move_to(&inner.id, None).await?.parent_id, None);
    equal!(content.list().await?.items.len(), 2);
    let invited = InviteMember {
        to: FRIEND.into(),
        role: GivenRole::Editor,
    };
    equal!(content.invite(&inner.id, &invited).await?.collection.name, "Food");
    let members = content.members(&inner.id, PageOptions::default()).await?.items;
    equal!(members.len(), 1);
    equal!(
        code(content.remove_member(&inner.id, &members[0].id).await),
        "content_conflict"
    );
    for collection in [outer, inner] {
        content.delete(&collection.id).await?;
        equal!(code(content.read(&collection.id).await), "not_found");
    }
    Ok(())
}

pub async fn an_item_is_written_on_condition_and_is_a_change(platform: &PlatformServicesClient) -> Outcome {
    let content = platform.content();
    let list = content.create(&CreateCollection::new("list", "Items")).await?.id;
    let first = content.put(&list, "milk", "2 litres", Condition::Missing).await?;
    equal!(
        code(content.put(&list, "milk", "x", Condition::Missing).await),
        "precondition_failed"
    );
    let stored = content.get(&list, "milk").await?;
    equal!((&*stored.bytes, &stored.etag), (&b"2 litres"[..], &first.etag));
    let next = content
        .put(&list, "milk", vec![1, 2], Condition::Match(&first.etag))
        .await?;
    equal!(
        code(content.remove(&list, "milk", Condition::Match(&first.etag)).await),
        "precondition_failed"
    );
    equal!(content.items(&list).await?.items, vec![next.clone()]);
    let changes = content.changes(&list, PageOptions::default()).await?;
    equal!(changes.items.len(), 1);
    equal!(changes.items[0].etag, Some(next.etag));
    content.remove(&list, "milk", Condition::Exists).await?;
    let later = PageOptions {
        cursor: changes.next_cursor,
        limit: None,
    };
    equal!(content.changes(&list, later).await?.items[0].etag, None);
    content.delete(&list).await?;
    Ok(())
}

pub async fn a_file_is_written_opened_and_deleted(platform: &PlatformServicesClient) -> Outcome {
    let files = platform.files();
    let name = "plan & more.txt";
    let written = files.put(name, "text/plain", "one", Condition::Missing).await?;
    let stored = files.get(name).await?;
    equal!((&*stored.bytes, &stored.etag), (&b"one"[..], &written.etag));
    equal!(stored.media_type, "text/plain");
    let entries = vec![FileAccessEntry {
        principal: FilePrincipal::App {
            app: "some-other-app".into(),
        },
        access: FileAccess::Read,
    }];
    equal!(files.open(name, entries.clone()).await?, entries);
    equal!(files.access(name).await?, entries);
    equal!(files.list().await?.items, vec![written.clone()]);
    equal!(files.shared(PageOptions::default()).await?.items.len(), 0);
    let unknown = "fil-01890000-0000-7000-8000-000000000000";
    equal!(code(files.get_shared(unknown).await), "not_found");
    equal!(
        code(files.put_shared(unknown, "text/plain", "x", Condition::None).await),
        "not_found"
    );
    files.remove(name, Condition::Match(&written.etag)).await?;
    equal!(code(files.get(name).await), "not_found");
    Ok(())
}
