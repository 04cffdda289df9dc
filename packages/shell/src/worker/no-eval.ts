// The policy of this origin forbids making code from text, which zod would otherwise try once, to be quicker. Imported
// before anything that makes a schema.
import { config } from 'zod';

config({ jitless: true });
