// The documents by which a client finds its way from a refusal to a token: what it may connect to (RFC 9728), and who gives out tokens
// for it (RFC 8414).
import { EVERY_SCOPE } from '@platform/contract';
import { type CoreConfig, connectOrigin } from '../../config/config.ts';
import { PATHS, readToolsPath, resourceOf } from '../addresses.ts';

type Place = Pick<CoreConfig, 'origin' | 'rpName'>;

/** @returns the document at this path; `undefined` where there is none */
export function metadataAt(config: Place, path: string): object | undefined {
  if (path === PATHS.server) return serverMetadata(config);
  if (!path.startsWith(PATHS.resource)) return undefined;
  const rest = path.slice(PATHS.resource.length);
  const target = rest === '' ? { app: null } : readToolsPath(rest);
  if (target === null) return undefined;
  return {
    resource: resourceOf(config, target),
    authorization_servers: [connectOrigin(config)],
    scopes_supported: EVERY_SCOPE,
    bearer_methods_supported: ['header'],
    resource_name: target.app === null ? config.rpName : `${target.app} on ${config.rpName}`,
  };
}

function serverMetadata(config: Place): object {
  const issuer = connectOrigin(config);
  return {
    issuer,
    authorization_endpoint: issuer + PATHS.authorize,
    token_endpoint: issuer + PATHS.token,
    registration_endpoint: issuer + PATHS.register,
    revocation_endpoint: issuer + PATHS.revoke,
    scopes_supported: EVERY_SCOPE,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}
