# Joint positions that put a frame somewhere, then the gravity torques there.
mbcli kinematics sample_models/arm7.urdf --ik hand=0.3,0.2,0.6 --json > posture.json
mbcli gravity sample_models/arm7.urdf --state posture.json
