SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.answers (
    tenant character varying(200) NOT NULL,
    session_id character varying(200) NOT NULL,
    key character varying(64) NOT NULL,
    digest character varying(64) NOT NULL,
    version integer NOT NULL,
    answer text,
    at character varying(32) NOT NULL
);
CREATE TABLE public.audit (
    id integer NOT NULL,
    session_id character varying(200),
    turn integer NOT NULL,
    kind character varying(32) NOT NULL,
    from_pathway character varying(200),
    to_pathway character varying(200),
    trigger text,
    reason text NOT NULL,
    confidence double precision,
    at character varying(32) NOT NULL
);
CREATE SEQUENCE public.audit_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_id_seq OWNED BY public.audit.id;
CREATE TABLE public.checkpoint_blobs (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    channel text NOT NULL,
    version text NOT NULL,
    type text NOT NULL,
    blob bytea
);
CREATE TABLE public.checkpoint_migrations (
    v integer NOT NULL
);
CREATE TABLE public.checkpoint_writes (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    task_id text NOT NULL,
    idx integer NOT NULL,
    channel text NOT NULL,
    type text,
    blob bytea NOT NULL,
    task_path text DEFAULT ''::text NOT NULL
);
CREATE TABLE public.checkpoints (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    parent_checkpoint_id text,
    type text,
    checkpoint jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL
);
CREATE TABLE public.definition_epoch (
    tenant character varying(200) NOT NULL,
    epoch integer NOT NULL,
    dropped integer NOT NULL
);
CREATE TABLE public.definitions (
    tenant character varying(200) NOT NULL,
    id character varying(200) NOT NULL,
    version integer NOT NULL,
    kind character varying(16) NOT NULL,
    name text NOT NULL,
    body text NOT NULL,
    digest character varying(64) NOT NULL,
    active boolean NOT NULL,
    dropped integer NOT NULL,
    loaded_at character varying(32) NOT NULL
);
CREATE TABLE public.effects (
    session_id character varying(200) NOT NULL,
    key text NOT NULL,
    step text NOT NULL,
    digest character varying(64) NOT NULL,
    state character varying(16) NOT NULL,
    result text,
    reason text,
    begun_at character varying(32) NOT NULL,
    ended_at character varying(32)
);
CREATE TABLE public.escalations (
    number integer NOT NULL,
    id character varying(36) NOT NULL,
    session_id character varying(200),
    journey_id character varying(200) NOT NULL,
    turn integer NOT NULL,
    reason text NOT NULL,
    status character varying(16) NOT NULL,
    claimed_by character varying(200),
    payload text NOT NULL,
    at character varying(32) NOT NULL,
    updated_at character varying(32) NOT NULL,
    unclaimed_at character varying(32) NOT NULL,
    delivered_at character varying(32),
    tries integer NOT NULL,
    next_try_at character varying(32) NOT NULL
);
CREATE SEQUENCE public.escalations_number_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.escalations_number_seq OWNED BY public.escalations.number;
CREATE TABLE public.field_attempts (
    id integer NOT NULL,
    session_id character varying(200),
    turn integer NOT NULL,
    field character varying(200) NOT NULL,
    value text,
    raw text,
    confidence double precision NOT NULL,
    validation_status character varying(16) NOT NULL,
    source character varying(16) NOT NULL,
    reason text NOT NULL,
    at character varying(32) NOT NULL
);
CREATE SEQUENCE public.field_attempts_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.field_attempts_id_seq OWNED BY public.field_attempts.id;
CREATE TABLE public.journeygraph_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.sessions (
    session_id character varying(200) NOT NULL,
    journey_id character varying(200) NOT NULL,
    journey_version character varying(200) NOT NULL,
    status character varying(16) NOT NULL,
    pathway_id character varying(200) NOT NULL,
    version integer NOT NULL,
    created_at character varying(32) NOT NULL,
    updated_at character varying(32) NOT NULL,
    expires_at character varying(32) NOT NULL,
    fence integer DEFAULT 0 NOT NULL,
    lease_until timestamp with time zone
);
CREATE TABLE public.turns (
    session_id character varying(200) NOT NULL,
    version integer NOT NULL,
    kind character varying(16) NOT NULL,
    checkpoint_id character varying(200) NOT NULL,
    rolled_back_to integer,
    pathway_id character varying(200) NOT NULL,
    message text,
    reply text,
    operations text NOT NULL,
    begun_at character varying(32) NOT NULL,
    at character varying(32) NOT NULL,
    model_calls integer DEFAULT 0 NOT NULL,
    input_tokens integer DEFAULT 0 NOT NULL,
    output_tokens integer DEFAULT 0 NOT NULL,
    flags text DEFAULT '[]'::text NOT NULL,
    trail text
);
CREATE TABLE public.validation_audit (
    id integer NOT NULL,
    session_id character varying(200),
    journey_id character varying(200) NOT NULL,
    turn integer NOT NULL,
    pathway_id character varying(200) NOT NULL,
    is_valid boolean NOT NULL,
    violations text NOT NULL,
    confidence double precision,
    latency_ms double precision NOT NULL,
    outcome character varying(16) NOT NULL,
    bypassed boolean NOT NULL,
    review boolean NOT NULL,
    at character varying(32) NOT NULL
);
CREATE SEQUENCE public.validation_audit_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.validation_audit_id_seq OWNED BY public.validation_audit.id;
ALTER TABLE ONLY public.audit ALTER COLUMN id SET DEFAULT nextval('public.audit_id_seq'::regclass);
ALTER TABLE ONLY public.escalations ALTER COLUMN number SET DEFAULT nextval('public.escalations_number_seq'::regclass);
ALTER TABLE ONLY public.field_attempts ALTER COLUMN id SET DEFAULT nextval('public.field_attempts_id_seq'::regclass);
ALTER TABLE ONLY public.validation_audit ALTER COLUMN id SET DEFAULT nextval('public.validation_audit_id_seq'::regclass);
INSERT INTO public.answers VALUES ('default', 's-1', '8d07de486133806dc7d54b70996db5ada7de97deaad067c110a9712d3ba4cfb4', 'e64ec52d8c5d24fd3bef7119f7fea9d82c0ab55dd2f31046b82252296a8ac1bb', 1, 'aes256gcm:yvycc8Rhk2uN5pdvCrNhxpSqEuCghiO9hSNQ44vIg92FNxzCJCEeojzeVzE4NqayibiZQsKDb8pQRtiFSqSZmc2ick6UmHTRsc4WogjBZhTdjuIQLN1KCEM/NZ0pckgID87SgdSNl9ZOvxIiLajba3Ba3CRQRG22MGH4fzodq3LWZg+raHlBfJTyNAr/HRFNmu8IvdGsTPAs1/XdgAxOmQtbE58qhxEdFfN8HOaTuIJz1xNjAdz9xR5AigxJTGA7mZBabk6FxJTUcSQyg7Gw/0dOv0uNiouRerTMs8D9wm0R49W+b4mRJ02rZuKl7QUlszdltHAT2YsxuYaX7tMtfjypqhbekfWy7RtQ4qZCMbQRvvVWvWU2FGYOVx3zpIk3N8f6ll58C75yy2ZGVHCAUhIN7LWOJ9DwaHgS/IpuZ8M69Rf9V1e5IBJfe+gSJWWEhFrQ6SXDWj8lltwBRyxiTtRkO/3NWDvX0mPrrTubhF1XEvb5VlqFcwAKMVecMuuFg+F5SiIv0IUKmN9DXWPJB9JorN11/WrLn+K8+ioBdvosooBFG0s9lbFDQ7V7pwPgzJ2i3s9ThtuXd3eDgQsmJ+zn8bcinu5spjaaVY2gaqJUxFn/yyzlbOlFHO/tJMipvDg9Z0/EG37kdN/ZDxv8WfljKutDqwOdx4vVOFRu/3WnpnE4tioMK0Cyzn3EYUjKMxwIg7X9nEkuHZe8rsygLyKL70NAtjq6sf1YsrNQef22Jerl95niSSJGJl16UaXiSYOJApAIr7D4R7VWCoBRXEGWOEo/nDl8q05xY9GqJEjzPm8gFNkq1G59YbFc/zpkMlCfrK41Jm10ikuV/kDS2IP24B77s9VAh5YLGd9QN2QwL0NYb7kd3NwBIDBEO1n5Mwj+gEIgHKkNW8DAA0iCdKeJF1LDoN6I71v2VShB0+IBA9Rc3WwGybz5OwMD8S269Qzhy5+qpJxNmbzsWRMB34pBZIvBo1tD2xD2R+vao6Bcn40u4D1+ITg6MZqdTutQiPBpK29nrodWMdQUegCNfDLMnAUH6ZUEAMOXmQ98', '2026-11-23T10:08:54.015208+00:00');
INSERT INTO public.answers VALUES ('default', 's-1', '7c35c5a1785d20704e44d5de4beb81c1fce91b6fe48ed7c3159af6f7f832078b', '284d13ee40fc542261460ea45dcc53af0dff1f30f1d6b603621c7c65f5cf55bd', 2, 'aes256gcm:Gs9VQ8j1hV510lW0XV73GkZnUiD0V8xgIXKWsKZHu4yHY/5rxL0rEd3VlEB+hpTRLVrsbWvGghr5sIoaVTRpVrNuwtkcZFxWOAuUag6yzPmy55qzEMcHR1gQj64A6kxvMR8oa+VES5LacO40OS8bNQlyKy15LU2QtDE5+6VMscqUup89pQag/vYsTpzN1FdjX1Dkq0JmfqOSpqWcwL/M4AKY4gXhhJLiU85UH16gKFgHrApIAHTqIY4iKea0ni6yUKc/HJMmV6k4pjt8bGcQufkPeb92iEGLuI5bmfF3rfRzBt2E0f/BQVCfCPGAtsz6+WIB5lqDsrrl3Xcd0vUtl47KTVW3SIVuYAeJUD+dp0VZyW7rWjeAYfcFTsMYdoUm17s9dnEGm+606AbiZmo+ZjjXbGcP6Pr18IPtR+92Vuma4pkQct9UlBAUadXEMVANAoCOW69bmmRnbAib5kS/hv/cCO1CjARK9SYnNBeiqPP7WEPE/rHunYE9pnN4vdPOll+YdhjjZuLfGZdrcgOG1Qfk3VK5eOl7bJApJTk8DSLXVhFSfwTE+H0mniFT+G3VHocOYEOzmpTlJX7FMLt5mgl5Dv4n3ae+biVrbBG4hiMoXN/FJLNBsvoqJpIx9aShqr1W7F7OTeaA5WMHnbE17t9Nh49GgoFJ0RpWo0boIo+7/LKwBpRTN3EwXZ0ZAmovBl6lwzF/l32gm/3NBnFoHWhih2uiuU2769Vx43bjXWFOZpnCb3n5qb7kAkdmq1gVDfYXGP7TPyk8LRX6F1oEF8YSFZn117ZL2X97taq/5CakdbNi1jZ05chWqVmDxbszkgrCyqiLYv5LomI1loNwTYEZGfWm', '2026-11-23T10:08:54.020420+00:00');
INSERT INTO public.answers VALUES ('default', 's-1', 'ab8460920d12844abaa011a263ae6d89aaef8e25fcd504b0955d5ec6e08af934', '1da91238975ceff3d1739444c2cb7107a2866b318e7f542d58f66cb55603c150', 3, 'aes256gcm:Y3xh9mxsWdEbjzaTIhmPKlkJTD373kRP9ADt5LmBHbgmh6XuTsJPgVORRmdTBk0J+/6eYj3BU6ZlVwR0jPB5MpVtAsihtNITuO0ZPRMZSPmvMrzBORFP8BAyMmzk+w/bhfubGV/9n/gV79KOLi0pMP846CzE43PR+G1KECdpdum/bYVlI24WllSkrsG2oo0pKymalpApXXf634hzQjEGyCUJt8xKzVgP+SyG0Q7c1JWFpKNrIMTpNLNcbKvOvzG6Zk4jJy0/amG4YkQMO3GpyNQteDOvhKU3FyQy2JZEJK5vRhi3zL6U2Sb5dnkanQ8+JaJxg5jWT2P7pU9lr4LnXG6jX7a+kDi6OuNsCW+VoxKLO8dOrCgk1iyuNLkWf8aWioOYWU/xCSn3SH+FIqMB+Bz5eHTGFOawqKduGwzU4zsJKDbenAP3d01exi+LIrJwBEzm1c0uSn6m71ym624O4uK9vp7PTfRH980pLpWO14TXFBZmBnfBbWt7i6JAXCVZvi30JFevRoSX8zINM0IngaWfYMc/8jgej7x3EwSJV6B2jU8ceHfZXKzh0nJt0t1JWAxGZ3ETG1yRllTLp28gwCLD+tnPhoR283TEhHrKRnUtTiWVNDnDP4MX4I1NysjtdYuzXDqHL3qBzxuAVzQF2NTd1gR7lG6bh7S11SvHfjy5LTTMH6cXoYynzKwUliNbnWDXpUucetPdVtwreFiSDNvn39TZ3vIhzArwJxup0EmwJZbdjOcxTmThzV6klkxDjmEx4vxcIref/xG2DBA/JXZSGLNl+sYmcm8UAP0JbjCGmWbFn6Rvm13uUT0ApwCfooQmcAB1dFFzGh5XUP5iEI/cnTjAhH+bJ3RCW4QHafgtZ/UIUuGRNXu5COADtWLybvQ0caJ8lZL5n8G8XclD4p78Sjvq5cL1yAmeOlOausg6Z+ULUC55ENGbH8PKMpsJb9i5q9UpjPghX1Z/ULQcidqEBHbJR5BFotjoPAm9pK8MA0kABbOXPwaBrkAtkbZ0rOvcVAvnH3qei/K/AOln/fJ+250o00ndlrjJ38E69A==', '2026-11-23T10:08:54.026126+00:00');
INSERT INTO public.audit VALUES (1, 's-1', 2, 'field_set', 'crossing', NULL, 'aes256gcm:VzSS2DrSKCByBiuxSbQwQqyAE6J7UIHtDQp4acyu3E0=', 'aes256gcm:zibasXzjk0sO5J4zv8QJhdvKrD4NDAbO5ERAqA==', NULL, '2026-11-23T10:08:54.020293+00:00');
INSERT INTO public.audit VALUES (2, 's-1', 3, 'field_set', 'crossing', NULL, 'aes256gcm:JAlmqmS/xNuHBR8L9Hmj0q0oEziVwFtrNZQXpQlCIHk=', 'aes256gcm:LvAED+vWjTWU7+eaUI97ZWHwgfQS/BzJyu6nHA==', NULL, '2026-11-23T10:08:54.026050+00:00');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'turn', '00000000000000000000000000000004.0.8400326061589272', 'msgpack+aes256gcm', '\xa005e6539e3b33b4fccf1448e3395192c88ca204c33f373eb04b7e17f4ac88f36e96db0fa5f782f7b1a14bb9593c2cbc3bf563769a7b6117388a71817a1939562551bec0e50897a6c5e96a30a51b208bcf95f696605e8dc47d1e81dcb4b048318fe4108419877f2cdd18e06e15930a363a6a204726c08fd511898f578e7d82dd6338078fa9b4c21dbd9c583f90076e0db7ff12d923d1eb98ab7005193356f665238baaf953c13fcc6e8adfc0d27fc788782add51a07da4fcf4a55850473131bcfc3ffbc4dc337157afcb23bf1f537c18abd052017c577c0824bb463668c56502876c30');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'position', '00000000000000000000000000000004.0.8400326061589272', 'msgpack+aes256gcm', '\x2170aa13b891d6bf6177f923b11b710a979e76d2884b4aeaae468af8528f9686bd141f37aab9560d7917841bb1df3827a0a4368a9a9f508f839debd310cd59d1b0ec4b523dc07696654300fe22f4ea2f4796586582b109ff36e7d3909f1a0f5210bee08533434a6753224dc96584f8500a044826fa28644fc196558e0f81f39ae672848591e3924f800c0b929f5a0112ca8e052050727ec3c00799c6f2a17bc3dee902c77e2e8d17a00706be100f71e375f3c2b6b6acdb4634bf7b8e8308ed7e3120f754e284fcde976b3fdc7479aef3d1b05da7aa19a40a055d7bef28017b746e985686bba9676865fb0c17fb447443a235cbf7fe4963eff082cee73471c8d6a3a293c48126');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'context', '00000000000000000000000000000002.0.632926229211082', 'msgpack+aes256gcm', '\x967d2d42648620f3a73f68336b5afb801959b136a163b2907f8e719d050a899a15b65816974085a896f58479e809b818a4fc06bdfb55cf6e5b86');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'turn', '00000000000000000000000000000009.0.7435705734100748', 'msgpack+aes256gcm', '\x58b927afc655955fe67e01d15f22c121c587d773eda165a6944c57455087cfa1f3ec83d1d28f5aa6c2640adc4bbdc5b704d15b6f36533cf47c0b6ba39f7d03149b1912c49bdbdd2121383440bb6d68db7172913c167c788d6c9eb78205bee2c4ee67b42116eb02ef55f8657b5d96c1e917cd87d2aedd8133e7b1133582b52277cc7fe849e1911155aab2194d5ab8aef01537b783117c2617041b8e6d376469b7d571ccc9a11806cd58cecc1549e20d95816560faf51f1279b826f0ac1a01994f8bf470fd29d3ef3ce1d4efbf12128093c1b3c3ed4cc3515193fd61ff9750e8439941d8b34bbc9c644237a2c0a30606e69f2dc9d6c1ddba1ebd663e5b2d332f6bf0494f120af1adca043b989a1ecd371ed76ae526f142eba07ad606a98fe488490d83acfed364400b25a7df2a7bd9a3ed8a75732dbef90e36aad8c13d5107c8fbde2aad1424eda3');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'messages', '00000000000000000000000000000009.0.7435705734100748', 'msgpack+aes256gcm', '\x1db6984cd58efebfbe6757a97e0e2cdfa534e6374bee76d1b882c24a78ddb4606e933b55ece8ecee152acd048aff957da8fb2d2fe7288aa064f8a1b8cb5e04cc8bbef0f14b29634ccc137d8b670ab394efd76f869fb12aa53ecc105293882b4debb83741bbf928356ded6da41439198e6945e8ea8aa7dc043f1d0968bf');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'position', '00000000000000000000000000000009.0.7435705734100748', 'msgpack+aes256gcm', '\x09094a7bc8ea0b5e6fd4a707a123738ca72ddf209faa8f0385da93345d381d51476a94fbce255479f7eeed4dbef2c7466532caaf40533d99b10673b37f2350c729cb3d92134aad51ef2069a1fe269c43642481b5d94bb1369a26c39e569d0b77acba1ad47a28578407dfa139262625ea32788d481e9016ff8237e11922bfde3c48e82547ee859786f08a4b8e217db8fa6e0fe25bd1672d9e93e086b3524c3df091bf0c0f9251fe003ccdbd88c1737f1a547169b70c2df3d7cd85e3e27c5bd9b5d623e298fb9190a97e1c797aa94c8d1843b4f00b29ff17a7bb7ac4e5277eceeeb4edc582b2d990dfaf04578cf30539065f440f3a9e2c882177cf942f4b549e017586446fd5167b448be996c72eab4c1ce3229f6c1de38f55535ee566d4ff8920836eb5b7c0d31463b6333f71f7b9260b122d98e12e696cdf59790a9e2d3b0f718f931cf7a75ba9b4c158823b5611f2c87e46d9ad9457');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'turn', '00000000000000000000000000000014.0.5038796149806863', 'msgpack+aes256gcm', '\xe52400be10dacc1f2c153e90717b4dd4c89de562f9065b4cd8dcdf002b0aa7c4731d6a85fc72a3e627fc2c33ac6b9e090f1456b23cfbadb9a2ddf36275408c872090b785dbace6559a79e34f46f62687ef28e7837e35b9cad8eab5e8e308d7f0ef5191864483accbf7e0101ef4b5d26122191ed66ce5e046c19ba6f719aac6f8d06a64906756dc3da2c039f7cd4fae485c2d9d42e8b00e2c9240e6dbf71d1135ec6f5824a741858a7e8c7767abc6fba961fc5032d5d22768ef6d9b537344cc9cc9c0249d72c61a118a8763eecd0280ae7dd7ab2419980346c6afeaee1285038b5efd5b97f4b635edb1d3360793454248c87f5b447853aaa5ba52e62e91ee1c3981455e784ece01aa82093366d31dc8129cb77f5ac4a9a877d6890d4283239e26d7b938f43a8742efd23540adb9d20693911a22f14387d89505bb38e15ec2648b0e71cc15cc1e9ae22b00e514fe250457f48bbe3d46f4b3a412fd426e8609331d2377ddf1e328a40b81f14cefed094870fcb582bf0846e8293fcf71b563eb677ecda4b676c84e3e88d5405b50274a993b0a9ae2f2a8bedbe47ddca0d18dd009455877ca5d3a53898adb8ff9b3373bcb1a1666de788cbf11f2ba912b7efa1a3f6ae74f5907fa6e0403abe1ac5122bb1d1a3585b80c455936eae88468331e4b14a92fcc9977fabcc285a45b54e9af92443ac88ea6654e5979f17580bf272f7831d0f4463a78f273d94d0fa49155f424abc5a0f1aae9994a0605492ec3430eed28b91cf557affab9470aac4589');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'fields', '00000000000000000000000000000012.0.3715894838202787', 'msgpack+aes256gcm', '\x4bff134f3de1675a82d36e7f7eafc060c80cdebb426017fc28121669b025d7bbc7d7bf22949ee9e6bded1bac4be8e7cf5744975867b3c0a65c58c77dbf5b784e3f9ee9b073d52e9caa52da74a1a52d3856a81af552729446067592c7d7e2df138418267309a8d4775b7baf444c35d197daa80fc2d73ee901d1aaf09b5ba4061776c7b71a2546106a5adace13267510f32863a9bc9bca9b76b4af5e3a2bfd83b1131c76a78709ba6309c421ccc48371ce87c0501b44b8ffc3b3');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'messages', '00000000000000000000000000000014.0.5038796149806863', 'msgpack+aes256gcm', '\xbb1fc788b7938ad4582fb00f3a9c251474d0c7f7716fb587f2aa01724c4c7b1a4c6ca113f09237fa37838eb2e8ec400061916fe825d75e103354f55a1bc404cfc6dc046c37c0d63c8eb0f7a75c9a52bab2c1c53ea829c4cff45fb9dbc34ccb41545b732bde15ffd2229437a9b71aa04d7e4ec94de15577be3a0756279fc40794aadbed13cc75a000ed70c571ef98d6816110013754639997fa5b9d59b26634badf558716e6468cc96989483eac142b9d8ffb4ae6250bd462b1e59f0fa5fdac9b0968f3628ec925851ce1');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'context', '00000000000000000000000000000012.0.3715894838202787', 'msgpack+aes256gcm', '\x4531f24f0c4f1b59ea5bb2b366631c0780eb6880615e69ca7a42210a1ebc88243f2fd6406225cb29d3b6734bddd83bcffb9dc57fcdcc533df2589d6070800c6900e34f107fd637');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'position', '00000000000000000000000000000014.0.5038796149806863', 'msgpack+aes256gcm', '\x9ba0c5a913c2d71d450c8212cc0e75ac65b9a0f8efa4b60f5806ced198e4030dc95466a23401c8c580c3f8e6d7982e000ba6f6e9026a0e13a2e1fe4a680e37f103d6f827d8cba6bb6ec59c18397182bb0e85ec44cb030e3faaa747083fdd296bda730721a412cd6c1b2f44b2989759fc230f9f69b8b0a0266f4516e9a379a3605910064796fe3b3b9d7f27dadf13d36ab4e4e72c2b070902efc9e1e6300733b0ddca8fba6f4fb84b53adf61c3f5b2af1c4a02041c25b21b04345740a93415e6db1a6e578b3b810614b92c1fc4079aa139889ef345af54b0c3be318ad6e69cbc890b788122f1d9f0822c2b35121f313a46ec2e48b927f547914d96b1e9fc26b1b771db21ec8df99f9eea48d6c2ae88f5a8e1604fa04cc9792a25f872ae4597701b24c910e877a926f2223d4925af22ea825c53f044bfe524b1f71210aa93efe1c91ba2b6e126881377b258248b9b81ed301a7bba78afa');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'turn', '00000000000000000000000000000019.0.25892018789085525', 'msgpack+aes256gcm', '\x34e4baee0d2b268d132677a715b19174632d5667efff97a32b780148757c80f676de77611de94f2ee6070dfca626857d0d1866bd39f07524cff79f9cdbd54ee921ae17c5ae395e1478531edb4d2d8261526897a39b853897feaeb9a69b0aaa6469412b8b1cb4698ba1d669e590b23bab566c6b162e13fe0a68c114d979b430fe1616953d7b56ee0df3f1e9514f34c633c8329e46f741368cb0f8a0b7e5fda1d47d9f5ff923a9bfe13b70da519ce57f2c3d6b42362a89b6581fac10b2d9d030a4e093770ba10959f0386672264a4298f6a983ecba0908a87b3a1e099be6a756ed1e8dd7a90de202f66469c4595d32eeed88ac271e30fd901c81655595b3e2553ee3bc7ffc1be193be291a5566b9acec1da9fe82b6ecfb338e1047b4b37f2792b230eba28d5609afa9e6c17bfe51732f88520b97c24f5a42f9fcf632cfae0b5c3d0951e7c6260243dccf4be1f4278e2170efd70fdfccafbe159841112a705908f9896e73c16021afe845155fd0c6f9f4a51c5434cea8169479a55cc49afd331740db1ae7838b80cf3371e11b96ce6d69eb929cf69e07b0181e644933b76976f9cbf9423666430bc395caade287b2be59a7d6fa338489a5783a043b25046b129d00f85692726b50aa44bb63b6fb43fc4ac961fe09782a405796addd7ca1acb042cc8df4bddf1ca24a16d74b31b191ca4e3c386221019812b4da70661e773a8f1ab30d5585882f96beec40a7cd3117216f1e0649b07c370ea18bf0ba5e1a4d11d9b7e4417a437528906ee486750d916970479a6a0612ec97bbe87d6a1caa95a0815d92099b');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'messages', '00000000000000000000000000000019.0.25892018789085525', 'msgpack+aes256gcm', '\x98538498a6e09e35cbc48dc92d59a6d5edf4abcdd92e16c1d462f61cc13c378eca32d97dc8efb9ec7f54b56ca956c2129273df110b2a8abbf6727295bbf3114c5a1278bc65361b1b7c438850430abd1f4fc8818e85e56334b6cbdcae900121a18ee97395ad1022664e8ba6fc8a28e7d58835b5909e903d50e557e60c14b0e983ff51317a658d493dc15682034076b1b78012ea299be3b8557a19b00c8346ba723af31c5bee1034be3c0406a2135e2b940559d0898bebbf9c8202c2c062c1963876f970249672c01e373603fc29043c91612c2fe47e3e8a218bcba7962a14af1fb3f921d5643d6f2d5a38740746db98fa6304231c941413847890e534af5771649b6204af2307242af5a64db5a363903cdfe844e4289183a4823e8b7e0b05f99032af8b3e46447fb23dff4a93ed3490caa5ba2e72394e4c506936ecfe48514f11eb7e72');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'fields', '00000000000000000000000000000017.0.16085336334735167', 'msgpack+aes256gcm', '\xf3b3a6ad77fd4a4e446dad1b40692159f4c91809c61461bf89be4b08382be47439a2a6df726ce791217c26edbda311b024bcf86bf442eb243d7fa266bacec31c4ccfa2dbfe877559dc479c532a7c8882b27a17ce4a98ca19d8a46c954584545b1b160f8198d420b513d67ae69d31719896d6caf9e250b2987703646c6ce256acd5ab758889b4487ba7ebd834b6249089abbf1ee8d27a96533ba6818898506ce2962e4d38052a8a4ddea342375f3f3f8cb30a63755d905417c076f7a73630a85956121ec593e477199fd3d9dacadd45199bf491ad27b7e5e7863d35ba944194837af108736905e9ed5850c42977149c3c57ce47413ea7dfd372807cffb44215e5a754cc7afbc3365428f143aba0648b88464dfbcc83347d8e04474fde291f60aac24a32dc27d7f1b995399a36bbbbd80d4970138c28bb1673e3af4c4939780c23897839e3df92d179');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'context', '00000000000000000000000000000017.0.16085336334735167', 'msgpack+aes256gcm', '\x7e9b80dd6d92dceedc59eab3737bc43ea5c32085c6c3b837d5363deed0d9882f0a73aa599b68e4f1167953a4c5509932571b0855dceebed6e8ba185227896007afc06b2d0698de9dd7df095d48');
INSERT INTO public.checkpoint_blobs VALUES ('s-1', '', 'position', '00000000000000000000000000000019.0.25892018789085525', 'msgpack+aes256gcm', '\x8538e32f082b6536462ffbe6a256df319e0f2de686dadaee7c7c69716d7e50b3cbeecbd311bb6614e7eeb5a8ea097f04144d327e8992f570236fee0917e8f97eca94677a8678f321a2a7357748e1cbc58d4b37a656b59e1c11295c180901bf992438400d428b5ee1f048958c8689e970344b7363908990f8bada7049082c17ef272a5234e5ee1e95206dfe1201492f4b82b4151ef0a018919c12c8e3433e3d8f9edfcbf2142502458c1e9dadb29f1f3cbb5b01ab23d855e74dd4f2149ac1cb77094b9b7fb28c5fb0dbf1f065a104d95e6bdc40032bfd540828944cd6bec5988c557af0d6ba2fb65dab700601fb3dfb6bf9b5ebd8f4e488749417f690f5d6709b22878fbe868b3f04f4e165c4a13b6c8648e737c91a46406ec41c87f4cabcad8b7edca0ec38aff0cdf50416e1ffde4d627fc90cf5351863d7c5828d369026bb197b2cbecf48adfcdf361d25f56fb04a9808e802fc617b043f79d27e2f');
INSERT INTO public.checkpoint_migrations VALUES (0);
INSERT INTO public.checkpoint_migrations VALUES (1);
INSERT INTO public.checkpoint_migrations VALUES (2);
INSERT INTO public.checkpoint_migrations VALUES (3);
INSERT INTO public.checkpoint_migrations VALUES (4);
INSERT INTO public.checkpoint_migrations VALUES (5);
INSERT INTO public.checkpoint_migrations VALUES (6);
INSERT INTO public.checkpoint_migrations VALUES (7);
INSERT INTO public.checkpoint_migrations VALUES (8);
INSERT INTO public.checkpoint_migrations VALUES (9);
INSERT INTO public.checkpoints VALUES ('s-1', '', '1f1e725e-3650-6e5c-8002-32465c7c0c4f', '00000000-0000-0000-0000-000000000000', NULL, '{"v": 4, "id": "1f1e725e-3650-6e5c-8002-32465c7c0c4f", "ts": "2026-11-23T10:08:54.005348+00:00", "versions_seen": {"settle": {"branch:to:settle": "00000000000000000000000000000003.0.6084802876375677"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000001.0.6652560820893835"}, "understand": {"branch:to:understand": "00000000000000000000000000000002.0.632926229211082"}}, "channel_values": {}, "channel_versions": {"turn": "00000000000000000000000000000004.0.8400326061589272", "context": "00000000000000000000000000000002.0.632926229211082", "position": "00000000000000000000000000000004.0.8400326061589272", "__start__": "00000000000000000000000000000002.0.632926229211082", "branch:to:settle": "00000000000000000000000000000004.0.8400326061589272", "branch:to:understand": "00000000000000000000000000000003.0.6084802876375677"}, "updated_channels": ["position", "turn"]}', '{"seal": "aes256gcm:vq9j3FLl0PZxjFyrE4eS4GeS0ufVoEgqFeaHcg==", "step": 2, "source": "loop", "parents": {}}');
INSERT INTO public.checkpoints VALUES ('s-1', '', '1f1e725e-3668-64cb-8007-4afd988ff660', '1f1e725e-3650-6e5c-8002-32465c7c0c4f', NULL, '{"v": 4, "id": "1f1e725e-3668-64cb-8007-4afd988ff660", "ts": "2026-11-23T10:08:54.014927+00:00", "versions_seen": {"settle": {"branch:to:settle": "00000000000000000000000000000008.0.20240485390436458"}, "crossing": {"branch:to:crossing": "00000000000000000000000000000007.0.8406038609876704"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000005.0.8075436372988551"}, "understand": {"branch:to:understand": "00000000000000000000000000000006.0.6072080557445477"}}, "channel_values": {}, "channel_versions": {"turn": "00000000000000000000000000000009.0.7435705734100748", "context": "00000000000000000000000000000002.0.632926229211082", "results": "00000000000000000000000000000009.0.7435705734100748", "messages": "00000000000000000000000000000009.0.7435705734100748", "position": "00000000000000000000000000000009.0.7435705734100748", "progress": "00000000000000000000000000000009.0.7435705734100748", "__start__": "00000000000000000000000000000006.0.6072080557445477", "branch:to:settle": "00000000000000000000000000000009.0.7435705734100748", "branch:to:crossing": "00000000000000000000000000000008.0.20240485390436458", "branch:to:understand": "00000000000000000000000000000007.0.8406038609876704"}, "updated_channels": ["messages", "position", "turn"]}', '{"seal": "aes256gcm:LWacjx2DqCBAi/2gKLmMhrdBcv7nj8zhQnLXcg==", "step": 7, "source": "loop", "parents": {}}');
INSERT INTO public.checkpoints VALUES ('s-1', '', '1f1e725e-3675-621f-800c-6aa332721a30', '1f1e725e-3668-64cb-8007-4afd988ff660', NULL, '{"v": 4, "id": "1f1e725e-3675-621f-800c-6aa332721a30", "ts": "2026-11-23T10:08:54.020179+00:00", "versions_seen": {"settle": {"branch:to:settle": "00000000000000000000000000000013.0.7616932784545535"}, "crossing": {"branch:to:crossing": "00000000000000000000000000000012.0.3715894838202787"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000010.0.5504212664505359"}, "understand": {"branch:to:understand": "00000000000000000000000000000011.0.26147107426054306"}}, "channel_values": {}, "channel_versions": {"turn": "00000000000000000000000000000014.0.5038796149806863", "fields": "00000000000000000000000000000012.0.3715894838202787", "context": "00000000000000000000000000000012.0.3715894838202787", "results": "00000000000000000000000000000014.0.5038796149806863", "messages": "00000000000000000000000000000014.0.5038796149806863", "position": "00000000000000000000000000000014.0.5038796149806863", "progress": "00000000000000000000000000000014.0.5038796149806863", "__start__": "00000000000000000000000000000011.0.26147107426054306", "branch:to:settle": "00000000000000000000000000000014.0.5038796149806863", "branch:to:crossing": "00000000000000000000000000000013.0.7616932784545535", "branch:to:understand": "00000000000000000000000000000012.0.3715894838202787"}, "updated_channels": ["messages", "position", "turn"]}', '{"seal": "aes256gcm:6MQK9oot1gonTJ6LkoQ/qXh0Ai5DRBerTGsKdw==", "step": 12, "source": "loop", "parents": {}}');
INSERT INTO public.checkpoints VALUES ('s-1', '', '1f1e725e-3683-6295-8011-3d26af2359cf', '1f1e725e-3675-621f-800c-6aa332721a30', NULL, '{"v": 4, "id": "1f1e725e-3683-6295-8011-3d26af2359cf", "ts": "2026-11-23T10:08:54.025931+00:00", "versions_seen": {"settle": {"branch:to:settle": "00000000000000000000000000000018.0.7861941929955328"}, "crossing": {"branch:to:crossing": "00000000000000000000000000000017.0.16085336334735167"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000015.0.34471679149944556"}, "understand": {"branch:to:understand": "00000000000000000000000000000016.0.12539958024484021"}}, "channel_values": {}, "channel_versions": {"turn": "00000000000000000000000000000019.0.25892018789085525", "fields": "00000000000000000000000000000017.0.16085336334735167", "context": "00000000000000000000000000000017.0.16085336334735167", "results": "00000000000000000000000000000019.0.25892018789085525", "messages": "00000000000000000000000000000019.0.25892018789085525", "position": "00000000000000000000000000000019.0.25892018789085525", "progress": "00000000000000000000000000000019.0.25892018789085525", "__start__": "00000000000000000000000000000016.0.12539958024484021", "branch:to:settle": "00000000000000000000000000000019.0.25892018789085525", "branch:to:crossing": "00000000000000000000000000000018.0.7861941929955328", "branch:to:understand": "00000000000000000000000000000017.0.16085336334735167"}, "updated_channels": ["messages", "position", "turn"]}', '{"seal": "aes256gcm:vzb2SZ0qSFAgxLyFQA+S6SVSnGF1JjO4HmAAsA==", "step": 17, "source": "loop", "parents": {}}');
INSERT INTO public.effects VALUES ('s-1', 'default/s-1/d8f68ad4b0344faf/4/crossing.reserve', 'crossing.reserve', '443854233c5513a9d12171e68603929ff85b427f4de1bb49699a973c784db0ac', 'done', 'aes256gcm:sWVh8McUA/VbidTPzBkX2tU9xU6fBaE3pldZWMx/yUzxt4eWeSZJIU6NtQE=', NULL, '2026-11-23T10:08:54.065151+00:00', '2026-11-23T10:08:54.068140+00:00');
INSERT INTO public.effects VALUES ('s-1', 'default/s-1/d8f68ad4b0344faf/4/crossing.charge', 'crossing.charge', 'a2879a37ea1e0b8938f44d782c2ff3887f30554da489efc8634d658a95a1094d', 'begun', NULL, NULL, '2026-11-23T10:08:54.069540+00:00', NULL);
INSERT INTO public.field_attempts VALUES (1, 's-1', 2, 'port', 'aes256gcm:YdgExsvaxM68Hrpe2igC7uWayT/YdQagybAd92k4i+SgoMILRQ==', 'aes256gcm:vePqoKNhy3Vs6gMwHVifEBbRff5A8YZPq3dkvFWXdw+wIqw=', 1, 'valid', 'user_provided', 'aes256gcm:FLfysiqBZxT0D3B3lwFchrZEsZn6rpWK55YtBQ==', '2026-11-23T10:08:54.018411+00:00');
INSERT INTO public.field_attempts VALUES (2, 's-1', 3, 'cars', 'aes256gcm:U6ZHmwVSXdNSGj0U8izM9pI4IEDs8LZtPMIWuoo=', 'aes256gcm:FmEv/bEbPckBNpDnAw/rFE0jUGkYBtpDmKNCXGY=', 1, 'valid', 'user_provided', 'aes256gcm:S/5UWOOM9tCtumnU0TBE9wxzoVtQa3RXdLrrGg==', '2026-11-23T10:08:54.023746+00:00');
INSERT INTO public.journeygraph_version VALUES ('0012');
INSERT INTO public.sessions VALUES ('s-1', 'secret_ferry', '9a568950d83e6a72d634089d8ba01ef2f26944ec7f70c52a0c11b275d8127829', 'active', 'crossing', 3, '2026-11-23T10:08:54.005430+00:00', '2026-11-23T10:08:54.025984+00:00', '2026-12-23T10:08:54.025984+00:00', 4, '2026-11-23 10:09:04.054558+00');
INSERT INTO public.turns VALUES ('s-1', 0, 'start', '1f1e725e-3650-6e5c-8002-32465c7c0c4f', NULL, 'crossing', NULL, 'aes256gcm:elyXVsCQ+bqUkAwGSQyUqdoC8UWkKAq+n87Aqg==', 'aes256gcm:9GYQYONs9Xq1uZV2l29xarnLTDEDRY5zQnL+qEXxoK4tnMBqAzaVsAy/wOgVbfXp4x/0VBw6Jx4DHU8T85tJqVj8h178qSa9qKkS2MoMDruX+0XG0w==', '2026-11-23T10:08:54.003154+00:00', '2026-11-23T10:08:54.005430+00:00', 0, 0, 0, '[]', NULL);
INSERT INTO public.turns VALUES ('s-1', 1, 'turn', '1f1e725e-3668-64cb-8007-4afd988ff660', NULL, 'crossing', 'aes256gcm:M3w3DRh2AmP1TvUNBBGc4PoHfwBFit36gyekrRORIYCh', 'aes256gcm:lZmXlXU58QdWLBpz+00OTA1CYCVTCTRXQteF2NFijR49jvp5B4gpGr0ol0+DMBUzI1WlvlT8x5invlCVteM=', 'aes256gcm:XE1PzRRVwqyCO3pfk4wZKMmj8fIOziNtZK9N5OOS', '2026-11-23T10:08:54.012565+00:00', '2026-11-23T10:08:54.014984+00:00', 0, 0, 0, '[]', 'aes256gcm:Rbi1Y87GG1zncAIXXnp2BWZ8I2ZE48O+QVBFkznOCu43eC3Igl+tbCApWTV0+I8dEyNeAVxwlrQXqNri9rJoM6d8lL2UI5OI5b0FgkBBxr6gmi+gsyNXyznJwCP2+qDNd3BuGJ2KklnADm+dSpwlv7x1s3ZuXoproftFE9ORmdMT6bCrIoCpccfEnv6e2S9GrH3y3INbiCvxJVpiMw2qrbqNfhhvGDJp+nPaQqCNtTbV5hOwFA/4Lf115pJs+lOIanWBrsC9Vp7+ct6xIQVGh9pA+GanUbHwuGJMh7jDxJjgsfK5l6OPutiIZrpBxAMwKppSRkfd0CmnKIbBxGP4X5b7Zw1kmhJaS6CEnd+0d34s3iDCIcg8oRsAar2uXMHLfTX5csSohg==');
INSERT INTO public.turns VALUES ('s-1', 2, 'turn', '1f1e725e-3675-621f-800c-6aa332721a30', NULL, 'crossing', 'aes256gcm:1A5NbMxttT2RppaXM0CUk/kBaCg9lNG9aj1Yu4iJBQDE+N8=', 'aes256gcm:z9g7IE9HBVpkklh34A2xnVbABXix5+NS5RpLPWIrtenSFcEI2tPmtE0G', 'aes256gcm:7+9xjy0st62NovAQxymnSZ/jbao3Kxv5QlSkQIgCvRKJI57PFin11igZQFvmr1v3lQFtZvrZdMbUNx13XImHTucAmgJX', '2026-11-23T10:08:54.018411+00:00', '2026-11-23T10:08:54.020226+00:00', 0, 0, 0, '[]', 'aes256gcm:lZCDpAGbtJ7WrLmymIPlLjW5RKDOUQlLx6KckNvCK/ADIzPBfci+Piek5O7r9eEu/QuHlBfmuanSnXl/w8R6+k5Sqz1FZSqw86ZY80dj5mt9SVTWrk6JWq/kN3YebhDOUff0bPE25aKSr6KOEIBUhx9IxxeXIuOnNbIRSBeTqcr7Dsp5HUpZlIH5GPOhwMjhRsgH85JgwVAx/EahbHaipJVVBlTorZ+rGJlD0fL7v9NiqUM6EC8ylkDBmySVVGWjd3c1i+SA9EDrKzDTLp623q01Oup72xnVEllIoebfXNblctUfAQpPSDHRiM0iomaUQyDSnPfZIIMJE0Wmr692LJm89VK1k4L+9NaFtxvHrpMlQEdp+ZkEz8uhiMGVZ6ReCPUVl/BPBRk38hfhsWsJIRCGt882imPtgS9J6RdWCoVuxKFZ5Q8TLwA=');
INSERT INTO public.turns VALUES ('s-1', 3, 'turn', '1f1e725e-3683-6295-8011-3d26af2359cf', NULL, 'crossing', 'aes256gcm:2B1EW57p06bMoYxzQeVM69d8U+2o8Hr+Hjjt5nc=', 'aes256gcm:sUg17JMjY8H9seRS1oTAOgOnU0bqutJBC1ABlHbHSX/X+vNY9gTa/b3fGpbt26h6nKNEVlEhCTtkAAvSaPIraMjdDFYs4d/NI0WduwVsiEE3921kfCK/6QKZvA==', 'aes256gcm:680d11KUfGIMNJwX4IA1CA+yLtbG+ixRWsFjpVqLr3IGdhkUNTT1EGJVGcZ5N/2795mb6DLCJuYA5iOphg==', '2026-11-23T10:08:54.023746+00:00', '2026-11-23T10:08:54.025984+00:00', 0, 0, 0, '[]', 'aes256gcm:S9duN8dy+tzh1JtPMwXgeZ/jvtXI0gt2nCu5kh60ITdvy3lZQ3qkMjrV6obkX8CuDsKSvgDFkuAGYv67CecLlmgFaXFCX3kT+v34WCQFHtEXO9htMFBQW9ZEe7d43Akpm/kaFB1YpzG5QbgjTFW6NY0FbxCi3S5daPc9Rz2dpj62YbaSXVa0v09+eV+z4IgS7w+aKs2WyG/X7S+wWR9AOcchPPEPS39s5r1oOrhirtFXt0fIFW+PSVUUvVumH4ZgGkiArnpEJiZEL5xFTtUD3k3nqyrMQm+GGLdOGGZxgdaYihEQQ828/RHTdHQh1QJ25jwuzXF6Btbv8AI4BvS7hMDYZioqj1me72EqLCcOMck1F+cb1xXjXC1K6Wp4Ai3+SjXkz1IhLAR2tbiDh+OvXfWAlq5QdhzXI5fSQdZiYO+zhly7f24dF8A=');
SELECT pg_catalog.setval('public.audit_id_seq', 2, true);
SELECT pg_catalog.setval('public.escalations_number_seq', 1, false);
SELECT pg_catalog.setval('public.field_attempts_id_seq', 2, true);
SELECT pg_catalog.setval('public.validation_audit_id_seq', 1, false);
ALTER TABLE ONLY public.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (tenant, session_id, key);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.checkpoint_blobs
    ADD CONSTRAINT checkpoint_blobs_pkey PRIMARY KEY (thread_id, checkpoint_ns, channel, version);
ALTER TABLE ONLY public.checkpoint_migrations
    ADD CONSTRAINT checkpoint_migrations_pkey PRIMARY KEY (v);
ALTER TABLE ONLY public.checkpoint_writes
    ADD CONSTRAINT checkpoint_writes_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx);
ALTER TABLE ONLY public.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id);
ALTER TABLE ONLY public.definition_epoch
    ADD CONSTRAINT definition_epoch_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY public.definitions
    ADD CONSTRAINT definitions_pkey PRIMARY KEY (tenant, id, version);
ALTER TABLE ONLY public.effects
    ADD CONSTRAINT effects_pkey PRIMARY KEY (session_id, key);
ALTER TABLE ONLY public.escalations
    ADD CONSTRAINT escalations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.field_attempts
    ADD CONSTRAINT field_attempts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.journeygraph_version
    ADD CONSTRAINT journeygraph_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session_id);
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_pkey PRIMARY KEY (session_id, version);
ALTER TABLE ONLY public.validation_audit
    ADD CONSTRAINT validation_audit_pkey PRIMARY KEY (id);
CREATE INDEX attempts_by_field ON public.field_attempts USING btree (session_id, field, id);
CREATE INDEX attempts_by_turn ON public.field_attempts USING btree (session_id, turn, id);
CREATE INDEX audit_by_turn ON public.audit USING btree (session_id, turn, id);
CREATE INDEX checkpoint_blobs_thread_id_idx ON public.checkpoint_blobs USING btree (thread_id);
CREATE INDEX checkpoint_writes_thread_id_idx ON public.checkpoint_writes USING btree (thread_id);
CREATE INDEX checkpoints_thread_id_idx ON public.checkpoints USING btree (thread_id);
CREATE INDEX checks_by_turn ON public.validation_audit USING btree (session_id, turn, id);
CREATE INDEX checks_to_review ON public.validation_audit USING btree (journey_id, review, id);
CREATE INDEX definitions_by_activity ON public.definitions USING btree (tenant, active, id);
CREATE UNIQUE INDEX escalations_by_id ON public.escalations USING btree (id);
CREATE INDEX escalations_by_session ON public.escalations USING btree (session_id);
CREATE INDEX escalations_to_deliver ON public.escalations USING btree (status, delivered_at, next_try_at);
CREATE INDEX escalations_to_take ON public.escalations USING btree (journey_id, status, number);
CREATE INDEX sessions_by_expiry ON public.sessions USING btree (status, expires_at);
CREATE INDEX sessions_by_journey ON public.sessions USING btree (journey_id, updated_at);
CREATE INDEX sessions_by_pathway ON public.sessions USING btree (journey_id, pathway_id, updated_at) WHERE ((status)::text <> 'expired'::text);
CREATE INDEX sessions_by_status ON public.sessions USING btree (journey_id, status, updated_at);
CREATE INDEX sessions_live ON public.sessions USING btree (journey_id, updated_at) WHERE ((status)::text <> 'expired'::text);
ALTER TABLE ONLY public.answers
    ADD CONSTRAINT answers_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.effects
    ADD CONSTRAINT effects_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.escalations
    ADD CONSTRAINT escalations_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.field_attempts
    ADD CONSTRAINT field_attempts_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.turns
    ADD CONSTRAINT turns_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
ALTER TABLE ONLY public.validation_audit
    ADD CONSTRAINT validation_audit_session_id_fkey FOREIGN KEY (session_id) REFERENCES public.sessions(session_id) ON DELETE CASCADE;
