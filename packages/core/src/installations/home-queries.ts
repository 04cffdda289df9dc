// The home screen of an account, in SQL. It is a subquery of every statement that shows installed apps.
import { DEFAULT_LAUNCHER } from '../catalog/face.ts';

/**
 * The id of the app that is the home screen: the one chosen, while it is installed with a page and may be the home
 * screen; otherwise Launcher, whether installed or not.
 *
 * @param account an expression for the key of the account
 */
export function homeOf(account: string): string {
  return `coalesce((
    SELECT l.app_id FROM launchers l
      JOIN installations h ON h.account_key = l.account_key AND h.app_id = l.app_id AND h.removed_at IS NULL
      JOIN published_versions hv ON hv.app_id = h.app_id AND hv.version = h.version
     WHERE l.account_key = ${account} AND hv.manifest ? 'frontend'
       AND h.grants @> '[{"id": "apps.launcher.register"}]'), '${DEFAULT_LAUNCHER}')`;
}
