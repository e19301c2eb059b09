# Continuous collision: features in motion, bodies, what is near a pose.
tactus_test(plucker tactus::collision)
tactus_test(ccd_feature tactus::collision)
